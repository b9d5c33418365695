(* By when all is over that was launched: given what is launched when, or given how much comes in a window. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial.

(* What a step launches, and what a run does, in its order. *)
Definition launch (x : label) : list operation := match x with Launch o => [o] | _ => [] end.
Definition launches (xs : list label) : list operation := flat_map launch xs.

Section Busy.
Variables (g : device) (top : nat) (blocks : nat -> nat) (P : operation -> Prop).
Hypothesis C : closed g top blocks P.
Local Notation upper := (upper g top).
Local Notation full := (full g top blocks).
Local Notation of_upper := (of_upper g top full).
Local Notation over_at := (over_at g top blocks).
Local Notation only_lower := (only_lower g top).

(* What holds in every run once it has launched [before]. *)
Record sound (before : list operation) (s : state) : Prop := {
  sound_usage : usage g s;
  sound_kept : kept g s;
  sound_order : in_order g s;
  sound_all : everywhere P s;
  sound_past : forall o, In o before -> launched_at o <= now s;
  sound_sorted : forall k o m, before = k ++ o :: m -> forall p, In p k -> launched_at p <= launched_at o
}.

Lemma launched_now s x t o : step g s x t -> In o (launch x) -> x = Launch o /\ launched_at o = now s /\ now t = now s.
Proof. intros H I. destruct x; try destruct I as [<-|[]]; [inversion H; tauto|destruct I..]. Qed.
Lemma no_time_back s x t : step g s x t -> now s <= now t.
Proof. intros H. destruct H; simpl; lia. Qed.

Lemma sound_step before s x t : sound before s -> step g s x t -> (forall o, In o (launch x) -> P o) ->
  sound (before ++ launch x) t.
Proof.
  intros [U K O A B S] H Px. assert (N := no_time_back s x t H). split.
  - apply (usage_step g s x t U H).
  - apply (kept_step g s x t K H).
  - apply (in_order_step g s x t O H).
  - apply (everywhere_step P g s x t A H). intros o ->. apply Px. left. reflexivity.
  - intros o I. apply in_app_iff in I. destruct I as [I|I]; [specialize (B o I); lia|].
    destruct (launched_now s x t o H I) as (_ & -> & ->). lia.
  - intros k o m E p I. assert (Q : launch x = [] \/ exists q, launch x = [q])
      by (destruct x; [right; eexists; reflexivity|left; reflexivity..]).
    destruct Q as [Q|[q Q]]; rewrite Q in E; [rewrite app_nil_r in E; apply (S k o m E p I)|].
    destruct m as [|z m _] using rev_ind.
    + apply app_inj_tail in E. destruct E as [-> ->].
      destruct (launched_now s x t o H) as (_ & -> & _); [rewrite Q; left; reflexivity|]. apply (B p I).
    + rewrite app_comm_cons, app_assoc in E. apply app_inj_tail in E. destruct E as [-> _]. apply (S k o m eq_refl p I).
Qed.

(* What each step keeps holds at the end; [rest] is what is launched after the step. *)
Lemma along (V : list operation -> state -> Prop) xs s :
  steps g (empty g) xs s -> (forall o, In o (launches xs) -> P o) -> V [] (empty g) ->
  (forall before s x t rest, launches xs = before ++ launch x ++ rest -> sound before s -> step g s x t ->
    sound (before ++ launch x) t -> V before s -> V (before ++ launch x) t) ->
  V (launches xs) s.
Proof.
  intros H Ps V0 Go. assert (S : sound [] (empty g)).
  { split; [apply usage_empty|apply kept_empty|apply in_order_empty|apply everywhere_empty|intros o []|].
    intros k o m Z. destruct k; discriminate Z. }
  assert (E : launches xs = [] ++ launches xs) by reflexivity.
  revert Ps Go E V0 S. generalize (launches xs) at 1 2 3 5 as all. generalize (@nil operation) as before.
  induction H as [s|s t u x xs St H IH]; intros before all Ps Go E V0 S.
  - rewrite E. simpl. rewrite app_nil_r. exact V0.
  - change (launches (x :: xs)) with (launch x ++ launches xs) in E.
    assert (S' : sound (before ++ launch x) t).
    { apply (sound_step before s x t S St). intros o I. apply Ps. rewrite E, !in_app_iff. tauto. }
    apply (IH (before ++ launch x) all Ps Go); [rewrite <- app_assoc; exact E| |exact S'].
    apply (Go before s x t (launches xs) E S St S' V0).
Qed.

Lemma over_launch before s x t D : sound before s -> step g s x t -> over_at s D ->
  over_at t (fold_left (fun D o => if upper o then Nat.max D (launched_at o) + full o else D) (launch x) D).
Proof.
  intros [U K O A _ _] H V. assert (Z := over_step g top blocks P C s x t D U K O A H V).
  destruct x as [o| | | | | | | |]; try exact Z. simpl. inversion H; subst.
  match goal with Q : launched_at o = now s |- _ => rewrite Q end. exact Z.
Qed.

(* How much is launched from [x] to [F]. *)
Definition demand (x F : nat) (all : list operation) : nat :=
  sum (map (fun o => if (x <=? launched_at o) && (launched_at o <=? F) then of_upper o else 0) all).
Definition served (D : nat) (o : operation) : nat := if upper o then Nat.max D (launched_at o) + full o else D.

Lemma demand_app x F l k : demand x F (l ++ k) = demand x F l + demand x F k.
Proof. unfold demand. rewrite map_app, sum_app. reflexivity. Qed.

(* The longest busy interval begins with some launch. *)
Lemma served_by_demand F l t : (forall o, In o l -> launched_at o <= t) -> t <= F ->
  (forall k o m, l = k ++ o :: m -> forall p, In p k -> launched_at p <= launched_at o) ->
  fold_left served l 0 = 0 \/
  exists o, In o l /\ upper o = true /\ fold_left served l 0 <= launched_at o + demand (launched_at o) F l.
Proof.
  induction l as [|o l IH] using rev_ind; intros B L S; [left; reflexivity|].
  assert (B' : forall p, In p l -> launched_at p <= t) by (intros p I; apply B, in_app_iff; left; exact I).
  assert (S' : forall k p m, l = k ++ p :: m -> forall q, In q k -> launched_at q <= launched_at p).
  { intros k p m -> q I. apply (S k p (m ++ [o])); [rewrite <- app_assoc; reflexivity|exact I]. }
  specialize (IH B' L S').
  assert (Bo : launched_at o <= t) by (apply B, in_app_iff; right; left; reflexivity).
  rewrite fold_left_app. simpl. unfold served at 1 3.
  assert (Own : forall y, y <= launched_at o -> demand y F [o] = of_upper o).
  { intros y Ly. unfold demand. simpl. destruct (Nat.leb_spec y (launched_at o)), (Nat.leb_spec (launched_at o) F);
    simpl;
      lia. }
  assert (Last : In o (l ++ [o])) by (apply in_app_iff; right; left; reflexivity).
  destruct (upper o) eqn:U.
  - right. destruct (Nat.le_gt_cases (fold_left served l 0) (launched_at o)) as [Le|Gt].
    + exists o. split; [exact Last|]. split; [exact U|]. rewrite demand_app, (Own _ (le_n _)). unfold serial.of_upper.
      rewrite U. lia.
    + destruct IH as [Z|(p & I & Up & Z)]; [lia|]. exists p. split; [apply in_app_iff; left; exact I|].
      split; [exact Up|].
      rewrite demand_app, Own; [unfold serial.of_upper; rewrite U; lia|]. apply (S l o [] eq_refl p I).
  - destruct IH as [Z|(p & I & Up & Z)]; [left; exact Z|right]. exists p.
    split; [apply in_app_iff; left; exact I|]. split; [exact Up|].
    rewrite demand_app. lia.
Qed.

Theorem over_by xs s F : steps g (empty g) xs s -> (forall o, In o (launches xs) -> P o) ->
  (forall o, In o (launches xs) -> upper o = true -> launched_at o <= F ->
    launched_at o + demand (launched_at o) F (launches xs) <= F) ->
  F < now s -> everywhere (fun o => upper o = true -> F < launched_at o) s.
Proof.
  intros H Ps Ds. apply (along (fun before s =>
    (now s <= F -> over_at s (fold_left served before 0)) /\
    (F < now s -> everywhere (fun o => upper o = true -> F < launched_at o) s)) xs s H Ps).
  - split; [intros _; left|intros _]; apply everywhere_empty.
  - clear s H. intros before s x t rest E S St S' [V W]. assert (N := no_time_back s x t St).
    destruct (Nat.le_gt_cases (now s) F) as [L|L].
    + specialize (V L). apply (over_launch before s x t) in V; [|exact S|exact St].
      change (fold_left _ (launch x) _) with (fold_left served (launch x) (fold_left served before 0)) in V.
      rewrite <- fold_left_app in V. split; [intros _; exact V|]. intros Gt.
      destruct V as [V|(X & e & Fn & V)].
      * eapply everywhere_weaker; [|exact V]. simpl. congruence.
      * exfalso. assert (Z := fine_now _ _ _ _ _ Fn).
        assert (Le : fold_left served (before ++ launch x) 0 <= F); [|lia].
        assert (Early : forall o, In o (before ++ launch x) -> launched_at o <= F).
        { intros o I. apply in_app_iff in I. destruct I as [I|I]; [assert (Q := sound_past _ _ S o I); lia|].
          destruct (launched_now s x t o St I) as (_ & Q & _). lia. }
        destruct (served_by_demand F _ F Early (le_n _) (sound_sorted _ _ S')) as [Q|(o & I & Uo & Q)]; [lia|].
        assert (Io : In o (launches xs)) by (rewrite E, app_assoc; apply in_app_iff; left; exact I).
        specialize (Ds o Io Uo (Early o I)). rewrite E, app_assoc, demand_app in Ds. lia.
    + split; [lia|]. intros _. eapply everywhere_step; [exact (W L)|exact St|]. intros o Z _.
      destruct (launched_now s x t o St) as (_ & -> & _); [rewrite Z; left; reflexivity|exact L].
Qed.

(* What is launched from [x] on. *)
Definition since (x : nat) (l : list operation) : nat :=
  sum (map (fun o => if x <=? launched_at o then of_upper o else 0) l).
Lemma since_demand F x l k : (forall o, In o l -> launched_at o <= F) -> since x l <= demand x F (l ++ k).
Proof.
  intros H. unfold since, demand. induction l as [|o l IH]; simpl; [lia|].
  specialize (IH (fun p I => H p (or_intror I))). assert (L := H o (or_introl eq_refl)).
  destruct (Nat.leb_spec x (launched_at o)), (Nat.leb_spec (launched_at o) F); simpl; lia.
Qed.
Lemma since_app x l k : since x (l ++ k) = since x l + since x k.
Proof. unfold since. rewrite map_app, sum_app. reflexivity. Qed.
Lemma since_one x o : x <= launched_at o -> upper o = true -> since x [o] = full o.
Proof.
  intros L U. unfold since, serial.of_upper. simpl. rewrite U. destruct (Nat.leb_spec x (launched_at o)); lia.
Qed.

(* If no more is launched in any window of length [w] than can be served in it, each operation is over within [w]. *)
Theorem over_within : forall w xs s, steps g (empty g) xs s -> (forall o, In o (launches xs) -> P o) ->
  (forall o, In o (launches xs) -> upper o = true ->
    demand (launched_at o) (launched_at o + w) (launches xs) <= w) ->
  everywhere (fun o => upper o = true -> now s <= launched_at o + w) s.
Proof.
  intros w xs s H Ps Ds.
  (* There is work since the launch at [x], and it is over by [D]. *)
  set (V := fun before st => only_lower st \/ exists D x, over_at st D /\
    D <= x + since x before /\ now st <= x + w /\
    (exists o, In o before /\ upper o = true /\ launched_at o = x) /\
    everywhere (fun o => upper o = true -> x <= launched_at o) st).
  assert (End : V (launches xs) s).
  2: { destruct End as [Q|(D & x & _ & _ & L & _ & Q)]; eapply everywhere_weaker; try exact Q; simpl.
    - congruence.
    - intros o M Uo. specialize (M Uo). lia. }
  apply (along V xs s H Ps); [left; apply everywhere_empty|].
  clear s H. intros before s x t rest E S St S' Vs. assert (N := no_time_back s x t St).
  assert (Up : (forall o, In o (launch x) -> upper o = false) \/ exists o, x = Launch o /\ upper o = true).
  { destruct x as [o| | | | | | | |]; try (left; intros p0 I; exact (False_ind _ I)).
    destruct (upper o) eqn:U; [right; exists o; tauto|]. left. intros p [<-|[]]. exact U. }
  (* A launch where nothing is left, or nothing longer than until now, begins anew. *)
  assert (Anew : forall o, x = Launch o -> upper o = true -> only_lower s -> V (before ++ launch x) t).
  { intros o -> Uo Q. destruct (launched_now s _ t o St (or_introl eq_refl)) as (_ & No & Nt).
    right. exists (now s + full o), (now s). split; [|split; [|split; [|split]]].
    - assert (Z := over_launch before s _ t 0 S St (or_introl Q)). simpl in Z. rewrite Uo, No in Z. exact Z.
    - simpl. rewrite since_app, since_one by (lia || exact Uo). lia.
    - lia.
    - exists o. split; [apply in_app_iff; right; left; reflexivity|]. split; [exact Uo|exact No].
    - eapply everywhere_step; [|exact St|]; [|intros p Z _; injection Z as <-; lia].
      eapply everywhere_weaker; [|exact Q]. simpl. congruence. }
  destruct Vs as [Q|(D & y & Q & L & W & (p & Ip & Upp & Lp) & M)].
  - destruct Up as [Lo|(o & -> & Uo)]; [|apply (Anew o eq_refl Uo Q)].
    left. eapply everywhere_step; [exact Q|exact St|]. intros o ->. apply Lo. left. reflexivity.
  - assert (Ly : y <= now s) by (rewrite <- Lp; apply (sound_past _ _ S p Ip)).
    assert (M' : everywhere (fun p => upper p = true -> y <= launched_at p) t).
    { eapply everywhere_step; [exact M|exact St|]. intros o -> _.
      destruct (launched_now s _ t o St (or_introl eq_refl)) as (_ & -> & _). exact Ly. }
    assert (F' : exists p, In p (before ++ launch x) /\ upper p = true /\ launched_at p = y).
    { exists p. split; [apply in_app_iff; left; exact Ip|tauto]. }
    assert (Q' := over_launch before s x t D S St Q).
    destruct Up as [Lo|(o & -> & Uo)].
    + assert (Fold : fold_left (fun D o => if upper o then Nat.max D (launched_at o) + full o else D) (launch x) D = D).
      { destruct x as [o| | | | | | | |]; try reflexivity. simpl. rewrite (Lo o (or_introl eq_refl)). reflexivity. }
      rewrite Fold in Q'. destruct Q' as [Q'|Q']; [left; exact Q'|right]. exists D, y. split; [right; exact Q'|].
      rewrite since_app. split; [lia|]. split; [|split; assumption].
      destruct Q' as (X & e & Fn & Z). assert (Z' := fine_now _ _ _ _ _ Fn).
      assert (Io : In p (launches xs)) by (rewrite E; apply in_app_iff; left; exact Ip).
      specialize (Ds p Io Upp). rewrite Lp, E in Ds.
      assert (B := since_demand (y + w) y before (launch x ++ rest)
        (fun o J => Nat.le_trans _ _ _ (sound_past _ _ S o J) W)). lia.
    + destruct (launched_now s _ t o St (or_introl eq_refl)) as (_ & No & Nt).
      assert (T : only_lower s \/ now s <= D).
      { destruct Q as [Q|(X & e & Fn & Z)]; [left; exact Q|right]. assert (Z' := fine_now _ _ _ _ _ Fn). lia. }
      destruct T as [T|T]; [apply (Anew o eq_refl Uo T)|]. right.
      exists (Nat.max D (now s) + full o), y. split; [|split; [|split; [|split]]]; try assumption; try lia.
      * simpl in Q'. rewrite Uo, No in Q'. exact Q'.
      * simpl. rewrite since_app, since_one by (lia || exact Uo). lia.
Qed.
End Busy.
