(* Two sets of kernels that share no SM, no queues and no counters: if neither can stand still alone, both together
   cannot (docs/hang.md). *)
From Coq Require Import List Arith Bool Lia Relations.
Import ListNotations.
From gpusched Require Import barriers barrier_runs.

(* The kernels of [A] alone, and what there is of them in a state. *)
Definition part (g : system) (A : nat -> bool) : system :=
  System (filter A (kernels g)) (blocks_of g) (points g) (group g) (together g) (queue g) (owner g) (level g)
         (after g) (behind g) (needs g) (may_use g) (fits g).
Definition of_part (A : nat -> bool) (s : state) : state :=
  State (filter A (entered s)) (filter (fun b => A (of b)) (blocks s)).

(* Neither set has to wait for the other: not to enter, not at a counter, not for an SM and not in a queue. *)
Record separate (g : system) (A : nat -> bool) : Prop := {
  separate_order : forall k j, In k (kernels g) -> In j (after g k) \/ In j (behind g k) -> A j = A k;
  separate_counters : forall k j p c v, In k (kernels g) -> In j (kernels g) -> A k <> A j ->
    nth_error (points g k) p = Some (Await c v) -> forall q, raises g j c q = false;
  separate_needs : forall k j c v, In k (kernels g) -> In j (kernels g) -> A k <> A j -> In (c, v) (needs g k) ->
    forall q, raises g j c q = false;
  separate_sms : forall k j sm, In k (kernels g) -> In j (kernels g) -> may_use g k sm -> may_use g j sm -> A k = A j;
  separate_queues : forall k j, In k (kernels g) -> In j (kernels g) -> owner g (queue g k) = owner g (queue g j) ->
    A k = A j
}.
Lemma separate_others g A : separate g A -> separate g (fun k => negb (A k)).
Proof.
  intros [O C D M Q]. split.
  - intros k j I J. rewrite (O k j I J). reflexivity.
  - intros k j p c v I J N. apply (C k j p c v I J). congruence.
  - intros k j c v I J N. apply (D k j c v I J). congruence.
  - intros k j sm I J U V. rewrite (M k j sm I J U V). reflexivity.
  - intros k j I J E. rewrite (Q k j I J E). reflexivity.
Qed.

Lemma filter_all {T} (f : T -> bool) l : (forall x, In x l -> f x = true) -> filter f l = l.
Proof.
  induction l as [|x l IH]; intros H; [reflexivity|]. simpl. rewrite (H x (or_introl eq_refl)), IH; [reflexivity|].
  intros y I. apply H. right. exact I.
Qed.

Section Part.
Variables (g : system) (A : nat -> bool).
Hypothesis S : sane g.
Hypothesis Sep : separate g A.

Lemma placement_part l : placement (part g A) l <-> placement g l.
Proof. split; (induction 1; constructor; assumption). Qed.
Lemma assigned_part s k : A k = true -> assigned (of_part A s) k = assigned s k.
Proof.
  intros I. unfold assigned, of_part. simpl. rewrite count_filter. apply Nat.le_antisymm; apply count_le.
  - intros b _ E. apply andb_prop in E. tauto.
  - intros b _ E. rewrite E. apply Nat.eqb_eq in E. rewrite E. exact I.
Qed.
Lemma ended_part s k : A k = true -> ended (part g A) (of_part A s) k <-> ended g s k.
Proof.
  intros I. unfold ended, of_part. simpl. rewrite count_filter.
  assert (E : count (fun x => (of x =? k) && over (part g A) x && A (of x)) (blocks s) =
    count (fun b => (of b =? k) && over g b) (blocks s)); [|rewrite E; tauto].
  apply Nat.le_antisymm; apply count_le.
  - intros b _ E. apply andb_prop in E. tauto.
  - intros b _ E. change (over (part g A) b) with (over g b). rewrite E. apply andb_prop in E. destruct E as [E _].
    apply Nat.eqb_eq in E. rewrite E. exact I.
Qed.
Lemma waiting_part s q : waiting (part g A) (of_part A s) q = filter A (waiting g s q).
Proof.
  assert (E := assigned_part s). unfold waiting. change (entered (of_part A s)) with (filter A (entered s)). simpl.
  generalize dependent (assigned (of_part A s)). intros f E.
  induction (entered s) as [|k l IH]; [reflexivity|]. simpl. destruct (A k) eqn:I; simpl.
  - rewrite (E k I). destruct ((queue g k =? q) && (assigned s k <? blocks_of g k)); simpl; rewrite ?I, IH; reflexivity.
  - destruct ((queue g k =? q) && (assigned s k <? blocks_of g k)); simpl; rewrite ?I; exact IH.
Qed.
Lemma resident_part s : resident (part g A) (of_part A s) = filter (fun x => A (fst x)) (resident g s).
Proof.
  unfold resident, of_part. simpl. induction (blocks s) as [|b l IH]; [reflexivity|]. simpl.
  change (over (part g A) b) with (over g b) in *. destruct (A (of b)) eqn:I, (over g b) eqn:O; simpl;
    change (over (part g A) b) with (over g b) in *; rewrite ?I, ?O; simpl; rewrite ?I, ?IH; reflexivity.
Qed.

Section Of_state.
Variable s : state.
Hypothesis P : proper g s.

(* At a counter that one set waits for, nothing of the other counts. *)
Lemma counter_part c : (forall j, In j (kernels g) -> A j = false -> forall q, raises g j c q = false) ->
  counter (part g A) (of_part A s) c = counter g s c.
Proof.
  intros N. unfold counter, of_part. simpl. assert (Known := fun b J => proper_known g s P _ (proper_of g s P b J)).
  clear P. induction (blocks s) as [|b l IH]; [reflexivity|]. simpl. specialize (IH (fun x J => Known x (or_intror J))).
  change (sent (part g A) (of b) c (passed b)) with (sent g (of b) c (passed b)). destruct (A (of b)) eqn:Ab; simpl.
  - change (sent (part g A) (of b) c (passed b)) with (sent g (of b) c (passed b)). lia.
  - assert (Z : sent g (of b) c (passed b) = 0); [|lia]. apply count_none. intros q _.
    apply (N (of b) (Known b (or_introl eq_refl)) Ab).
Qed.
Lemma counter_awaited k p c v : In k (kernels g) -> A k = true -> nth_error (points g k) p = Some (Await c v) ->
  counter (part g A) (of_part A s) c = counter g s c.
Proof.
  intros I Ak N. apply counter_part. intros j J Aj. apply (separate_counters _ _ Sep k j p c v I J); [congruence|exact N].
Qed.
Lemma counter_needed k c v : In k (kernels g) -> A k = true -> In (c, v) (needs g k) ->
  counter (part g A) (of_part A s) c = counter g s c.
Proof.
  intros I Ak N. apply counter_part. intros j J Aj. apply (separate_needs _ _ Sep k j c v I J); [congruence|exact N].
Qed.
(* On an SM that one set may use, there is nothing of the other. *)
Lemma there_part k sm l j : In k (kernels g) -> A k = true -> may_use g k sm -> placement g l ->
  (forall x, In x l -> In (fst x) (kernels g)) -> there sm (filter (fun x => A (fst x)) l) j = there sm l j.
Proof.
  intros I Ak U Pl Known. unfold there. rewrite count_filter.
  assert (Use : forall x, In x l -> may_use g (fst x) (snd x)).
  { clear Known. induction Pl as [|k' sm' l Pl IH U' F]; intros x J; [destruct J|].
    destruct J as [<-|J]; [exact U'|apply (IH x J)]. }
  apply Nat.le_antisymm; apply count_le; intros x J E.
  - apply andb_prop in E. tauto.
  - rewrite E. simpl. apply andb_prop in E. destruct E as [_ E]. apply Nat.eqb_eq in E.
    rewrite <- (separate_sms _ _ Sep k (fst x) sm I (Known x J) U); [exact Ak|]. rewrite <- E. apply (Use x J).
Qed.
Lemma resident_known x : In x (resident g s) -> In (fst x) (kernels g).
Proof.
  intros I. destruct (in_resident g s x I) as (b & Ib & _ & <- & _). apply (proper_known g s P), (proper_of g s P b Ib).
Qed.
Lemma assign_part k sms : In k (kernels g) -> A k = true ->
  placement (part g A) (map (pair k) sms ++ resident (part g A) (of_part A s)) <->
  placement g (map (pair k) sms ++ resident g s).
Proof.
  intros I Ak. rewrite placement_part, resident_part.
  assert (E : map (pair k) sms ++ filter (fun x => A (fst x)) (resident g s) =
    filter (fun x => A (fst x)) (map (pair k) sms ++ resident g s)).
  { rewrite filter_app. f_equal. symmetry. apply filter_all. intros x J. apply in_map_iff in J.
    destruct J as (sm & <- & _). exact Ak. }
  split; [|rewrite E; apply (placement_filter g S)]. clear E. induction sms as [|sm sms IH]; simpl; intros Pl.
  - apply (proper_placed g s P).
  - inversion Pl as [|k' sm' l Pl' U F]; subst. specialize (IH Pl'). constructor; [exact IH|exact U|].
    eapply (sane_fits g S); [|exact F]. intros j.
    rewrite <- (there_part k sm _ j I Ak U IH).
    + rewrite filter_app, (filter_all _ (map (pair k) sms)); [lia|]. intros x J. apply in_map_iff in J.
      destruct J as (y & <- & _). exact Ak.
    + intros x J. apply in_app_iff in J. destruct J as [J|J]; [|apply (resident_known x J)]. apply in_map_iff in J.
      destruct J as (y & <- & _). exact I.
Qed.

(* A step of all kernels is one of the part, or nothing to it. *)
Lemma step_of_part t : step g s t -> of_part A t = of_part A s \/ step (part g A) (of_part A s) (of_part A t).
Proof.
  intros St. destruct St.
  - destruct (A k) eqn:Ak.
    + right. replace (of_part A (State (entered s ++ [k]) (blocks s))) with
        (State (entered (of_part A s) ++ [k]) (blocks (of_part A s))).
      2:{ unfold of_part. simpl. rewrite filter_app. simpl. rewrite Ak. reflexivity. }
      apply (Enter (part g A)).
      * apply filter_In. tauto.
      * simpl. rewrite filter_In. tauto.
      * intros j J. simpl in J. apply ended_part; [|apply (H1 j J)].
        rewrite (separate_order _ _ Sep k j H (or_introl J)). exact Ak.
      * intros j J. simpl in *. apply filter_In. split; [apply (H2 j J)|].
        rewrite (separate_order _ _ Sep k j H (or_intror J)). exact Ak.
      * intros c v J. simpl in J. rewrite (counter_needed k c v H Ak J). apply (H3 c v J).
    + left. unfold of_part. simpl. rewrite filter_app. simpl. rewrite Ak, app_nil_r. reflexivity.
  - destruct (next_facts g s k H) as (Ik & _). assert (Kk := proper_known g s P k Ik).
    assert (E : filter (fun b => A (of b)) (map (fun sm => Block k sm 0) sms) =
      if A k then map (fun sm => Block k sm 0) sms else []).
    { destruct (A k) eqn:Ak.
      - apply filter_all. intros b J. apply in_map_iff in J. destruct J as (sm & <- & _). exact Ak.
      - induction sms as [|sm sms IH] in |- *; [reflexivity|]. simpl. rewrite Ak. exact IH. }
    destruct (A k) eqn:Ak.
    + right. unfold of_part at 2. simpl. rewrite filter_app, E. apply (Assign (part g A) (of_part A s)).
      * destruct H as [[rest W] Ab]. split.
        { exists (filter A rest). rewrite waiting_part. simpl. rewrite W. simpl. rewrite Ak. reflexivity. }
        { intros q Q. rewrite waiting_part, (Ab q Q). reflexivity. }
      * exact H0.
      * exact H1.
      * apply (assign_part k sms Kk Ak). exact H2.
    + left. unfold of_part. simpl. rewrite filter_app, E. reflexivity.
  - assert (Ib : In b (blocks s)) by (rewrite H; apply in_app_iff; right; left; reflexivity).
    assert (Kb := proper_known g s P _ (proper_of g s P b Ib)). destruct (A (of b)) eqn:Ab.
    + right. unfold of_part at 2. simpl. rewrite filter_app. simpl. rewrite Ab. apply (Pass (part g A) (of_part A s)).
      * unfold of_part. simpl. rewrite H, filter_app. simpl. rewrite Ab. reflexivity.
      * exact H0.
      * intros c v N. simpl in N. rewrite (counter_awaited (of b) _ c v Kb Ab N). apply (H1 c v N).
    + left. unfold of_part. simpl. rewrite H, !filter_app. simpl. rewrite Ab. reflexivity.
Qed.
(* A step of the part is one that all kernels may take. *)
Lemma step_of_all t : step (part g A) (of_part A s) t -> exists u, step g s u.
Proof.
  intros St. destruct St.
  - simpl in H, H0, H1, H2, H3. apply filter_In in H. destruct H as [I Ak]. eexists. apply (Enter g s k I).
    + intros J. apply H0, filter_In. tauto.
    + intros j J. apply ended_part; [|apply (H1 j J)]. rewrite (separate_order _ _ Sep k j I (or_introl J)). exact Ak.
    + intros j J. specialize (H2 j J). apply filter_In in H2. apply H2.
    + intros c v J. rewrite <- (counter_needed k c v I Ak J). apply (H3 c v J).
  - destruct (next_facts (part g A) (of_part A s) k H) as (Ik & _). simpl in Ik. apply filter_In in Ik.
    destruct Ik as [Ik Ak]. assert (Kk := proper_known g s P k Ik).
    assert (Same : forall q, owner g q = owner g (queue g k) -> filter A (waiting g s q) = waiting g s q).
    { intros q O. apply filter_all. intros j J. unfold waiting in J. apply filter_In in J. destruct J as [J F].
      apply andb_prop in F. destruct F as [F _]. apply Nat.eqb_eq in F. subst q.
      rewrite (separate_queues _ _ Sep j k (proper_known g s P j J) Kk O). exact Ak. }
    eexists. apply (Assign g s k sms).
    + destruct H as [[rest W] Ab]. split.
      * exists rest. rewrite <- (Same _ eq_refl), <- waiting_part. exact W.
      * intros q [O L]. rewrite <- (Same q O), <- waiting_part. apply Ab. split; assumption.
    + exact H0.
    + exact H1.
    + apply (assign_part k sms Kk Ak). exact H2.
  - assert (Ib : In b (blocks (of_part A s))) by (rewrite H; apply in_app_iff; right; left; reflexivity).
    simpl in Ib. apply filter_In in Ib. destruct Ib as [Ib Ab]. assert (I2 := Ib). apply in_split in I2.
    destruct I2 as (l1 & l2 & E). eexists. apply (Pass g s l1 l2 b E H0). intros c v N.
    assert (Kb := proper_known g s P _ (proper_of g s P b Ib)).
    rewrite <- (counter_awaited (of b) _ c v Kb Ab N). apply (H1 c v N).
Qed.
End Of_state.

Lemma run_of_part n s : run g n s -> exists m, run (part g A) m (of_part A s).
Proof.
  induction 1 as [|n s t R [m IH] St]; [exists 0; constructor|].
  destruct (step_of_part s (run_proper g S n s R) t St) as [E|St'].
  - exists m. rewrite E. exact IH.
  - exists (Datatypes.S m). apply (Then _ m (of_part A s)); assumption.
Qed.
Lemma part_goes_on n s : run g n s ->
  (forall n s, run (part g A) n s -> all_ended (part g A) s \/ exists t, step (part g A) s t) ->
  (forall k, In k (kernels g) -> A k = true -> ended g s k) \/ exists t, step g s t.
Proof.
  intros R H. destruct (run_of_part n s R) as [m R']. destruct (H _ _ R') as [E|[t St]].
  - left. intros k I Ak. apply ended_part; [exact Ak|]. apply E. apply filter_In. tauto.
  - right. apply (step_of_all s (run_proper g S n s R) t St).
Qed.
End Part.

Theorem parts_cannot_stand_still g A : sane g -> separate g A ->
  (forall n s, run (part g A) n s -> all_ended (part g A) s \/ exists t, step (part g A) s t) ->
  (forall n s, run (part g (fun k => negb (A k))) n s -> all_ended (part g (fun k => negb (A k))) s \/
    exists t, step (part g (fun k => negb (A k))) s t) ->
  forall n s, run g n s -> all_ended g s \/ exists t, step g s t.
Proof.
  intros Sa Sep H1 H2 n s R. destruct (part_goes_on g A Sa Sep n s R H1) as [E1|T]; [|right; exact T].
  destruct (part_goes_on g _ Sa (separate_others g A Sep) n s R H2) as [E2|T]; [|right; exact T].
  left. intros k I. destruct (A k) eqn:Ak; [apply (E1 k I Ak)|apply (E2 k I)]. rewrite Ak. reflexivity.
Qed.
