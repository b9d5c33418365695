(* A run cannot stand still: where nothing runs and nothing can begin, all that was launched has completed. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model executable follows lists usage sustainable.

(* What can be launched: a kernel that fits an empty SM that it may use, in a stream of some level; a copy of an engine
   that there is; a wait for an earlier record. *)
Definition can_run (g : device) (o : operation) : Prop :=
  match what o with
  | Kernel _ need _ =>
      (exists i cap, nth_error (sms g) i = Some cap /\ may_use g o i /\ fits need cap) /\
      (exists l b, nth_error (streams g) (stream o) = Some (Stream l b) /\ l < levels g)
  | Copy e _ => e < engines g
  | Instant | Wait None => True
  | Wait (Some r) => r < number o
  end.

Fixpoint ascending (l : list operation) : Prop :=
  match l with [] => True | o :: rest => (forall p, In p rest -> number o < number p) /\ ascending rest end.
(* Where an operation is that has gone on. *)
Definition somewhere (s : state) (m : nat) : Prop :=
  (exists r, In r (running s) /\ number (of r) = m) \/
  (exists l k x, nth_error (ee s) l = Some k /\ In x k /\ number (fst x) = m) \/
  (exists e k p, nth_error (ce s) e = Some k /\ In p k /\ number p = m).
Record in_order (g : device) (s : state) : Prop := {
  order_ascending : forall q k, nth_error (queues s) q = Some k -> ascending (waiting k);
  order_launched : forall q k o, nth_error (queues s) q = Some k -> In o (waiting k) -> number o < launched s;
  order_apart : forall q k o q' k' o', nth_error (queues s) q = Some k -> In o (waiting k) ->
    nth_error (queues s) q' = Some k' -> In o' (waiting k') -> number o = number o' -> q = q';
  order_gone : forall q k, nth_error (queues s) q = Some k -> gone_on k = true -> waiting k <> [];
  order_somewhere : forall q o rest, nth_error (queues s) q = Some (Queue true (o :: rest)) -> somewhere s (number o);
  order_kernels : forall l k x, nth_error (ee s) l = Some k -> In x k ->
    exists n need lasts, what (fst x) = Kernel n need lasts
}.

Lemma in_order_empty g : in_order g (empty g).
Proof.
  assert (Q : forall q k, nth_error (queues (empty g)) q = Some k -> k = Queue false []).
  { intros q k E. apply nth_error_In, repeat_spec in E. exact E. }
  split; intros.
  - rewrite (Q _ _ H). exact Logic.I.
  - rewrite (Q _ _ H) in H0. destruct H0.
  - rewrite (Q _ _ H) in H0. destruct H0.
  - rewrite (Q _ _ H) in H0. discriminate H0.
  - specialize (Q _ _ H). discriminate Q.
  - apply nth_error_In, repeat_spec in H. subst k. destruct H0.
Qed.

(* What is left in order where a queue has lost its head, or only changed whether that has gone on. *)
Lemma queues_in_order g s q b b' o rest l :
  in_order g s -> nth_error (queues s) q = Some (Queue b (o :: rest)) -> (l = rest /\ b' = false \/ l = o :: rest) ->
  let u := update q (Queue b' l) (queues s) in
  (forall q k, nth_error u q = Some k -> ascending (waiting k)) /\
  (forall q k o, nth_error u q = Some k -> In o (waiting k) -> number o < launched s) /\
  (forall q k o q' k' o', nth_error u q = Some k -> In o (waiting k) ->
    nth_error u q' = Some k' -> In o' (waiting k') -> number o = number o' -> q = q') /\
  (forall q k, nth_error u q = Some k -> gone_on k = true -> waiting k <> []).
Proof.
  intros [A L P G _ _] Q C u.
  assert (Sh : forall q' k' p, nth_error u q' = Some k' -> In p (waiting k') ->
    exists k, nth_error (queues s) q' = Some k /\ In p (waiting k)).
  { intros q' k' p E I. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[N E1]]; [|exists k'; tauto].
    exists (Queue b (o :: rest)). split; [exact Q|]. simpl in *. destruct C as [[-> _]| ->]; [right|]; exact I. }
  repeat split.
  - intros q' k E. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|apply (A q' k E')].
    destruct C as [[-> _]| ->]; apply (A _ _ Q).
  - intros q' k p E I. destruct (Sh q' k p E I) as (k' & E' & I'). apply (L q' k' p E' I').
  - intros q1 k a q2 k' a' E I E' I' F. destruct (Sh q1 k a E I) as (? & ? & ?), (Sh q2 k' a' E' I') as (? & ? & ?).
    eapply P; eassumption.
  - intros q' k E F. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|apply (G q' k E' F)].
    destruct C as [[_ ->]| ->]; discriminate.
Qed.

Lemma stays {A} (ks : list (list A)) l before x l' k y : nth_error ks l = Some before ->
  nth_error ks l' = Some k -> In y k -> exists k', nth_error (update l (before ++ [x]) ks) l' = Some k' /\ In y k'.
Proof.
  intros H E I. destruct (Nat.eq_dec l l') as [<-|N].
  - exists (before ++ [x]). rewrite (update_same _ _ _ _ H). rewrite H in E. injection E as <-.
    split; [reflexivity|apply in_app_iff; left; exact I].
  - exists k. rewrite update_other by exact N. tauto.
Qed.

Lemma not_over s o still : ~ over s o still ->
  (exists r, In r still /\ number (of r) = number o) \/
  (exists l k x, nth_error (ee s) l = Some k /\ In x k /\ number (fst x) = number o).
Proof.
  intros N. destruct (existsb (fun r => number (of r) =? number o) still) eqn:A.
  { left. apply existsb_exists in A. destruct A as (r & I & E). apply Nat.eqb_eq in E. exists r. tauto. }
  destruct (existsb (existsb (fun x : operation * nat => number (fst x) =? number o)) (ee s)) eqn:B.
  { right. apply existsb_exists in B. destruct B as (k & I & E). apply existsb_exists in E. destruct E as (x & J & F).
    apply In_nth_error in I. destruct I as [l I]. apply Nat.eqb_eq in F. exists l, k, x. tauto. }
  exfalso. apply N. split.
  - intros r I E. assert (T : existsb (fun r => number (of r) =? number o) still = true); [|congruence].
    apply existsb_exists. exists r. split; [exact I|apply Nat.eqb_eq, E].
  - intros l k x E I F.
    assert (T : existsb (existsb (fun x : operation * nat => number (fst x) =? number o)) (ee s) = true); [|congruence].
    apply existsb_exists. exists k. split; [apply (nth_error_In _ _ E)|]. apply existsb_exists. exists x.
    split; [exact I|apply Nat.eqb_eq, F].
Qed.

Lemma ascending_app l o : ascending l -> (forall p, In p l -> number p < number o) -> ascending (l ++ [o]).
Proof.
  induction l as [|p l IH]; intros A L; simpl; [split; [intros ? []|exact Logic.I]|]. destruct A as [A B]. split.
  - intros x I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply A, I|apply L; left; reflexivity].
  - apply IH; [exact B|]. intros x I. apply L. right. exact I.
Qed.

Lemma in_order_step g s x t : in_order g s -> step g s x t -> in_order g t.
Proof.
  intros O H. assert (O' := O). destruct O' as [A L P G S K]. assert (H0 := H). destruct H0.
  - (* the last block ended *)
    destruct (queues_in_order g s (stream (of r)) true false (of r) rest rest O H6 (or_introl (conj eq_refl eq_refl)))
      as (A' & L' & P' & G').
    split; simpl in *; try assumption.
    intros q o rest' E. destruct (update_cases _ _ _ _ _ E) as [[_ F]|[N E']]; [discriminate F|].
    assert (D : number o <> number (of r)).
    { intros F. apply N. symmetry. eapply (P q _ o (stream (of r))); [exact E'|left; reflexivity|exact H6|left;
      reflexivity|exact F]. }
    destruct (S q o rest' E') as [(r' & I & F)|F]; [|right; exact F]. left. exists r'. split; [|exact F].
    rewrite H2 in I. apply in_app_iff in I. apply in_app_iff. destruct I as [I|[<-|I]]; [left; exact I| |right;
      exact I].
    destruct (D (eq_sym F)).
  - (* one of several ended *)
    split; simpl; try assumption. intros q o rest E. destruct (Nat.eq_dec (number o) (number (of r))) as [F|D].
    + rewrite F. destruct (not_over _ _ _ H5) as [T|T]; [left|right; left]; exact T.
    + destruct (S q o rest E) as [(r' & I & F)|F]; [|right; exact F]. left. exists r'. split; [|exact F].
      simpl. rewrite H2 in I. apply in_app_iff in I. apply in_app_iff.
      destruct I as [I|[<-|I]]; [left; exact I|congruence|right; exact I].
  - split; simpl; assumption.
  - (* a launch *)
    assert (New : forall q k o', nth_error (update (stream o) (Queue b (before ++ [o])) (queues s)) q = Some k ->
      In o' (waiting k) -> (q = stream o /\ o' = o) \/ exists k', nth_error (queues s) q = Some k' /\ In o' (waiting
        k')).
    { intros q k o' E I. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[N E']]; [|right; exists k; tauto].
      simpl in I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [|left; tauto]. right. exists (Queue b before).
        tauto. }
    split; simpl.
    + intros q k E. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|apply (A q k E')].
      apply ascending_app; [apply (A _ _ H5)|]. intros p I. rewrite H2. apply (L _ _ p H5 I).
    + intros q k o' E I. destruct (New q k o' E I) as [[_ ->]|(k' & E' & I')]; [lia|]. specialize (L q k' o' E' I').
      lia.
    + intros q k a q' k' a' E I E' I' F.
      destruct (New q k a E I) as [[-> ->]|(k1 & E1 & I1)], (New q' k' a' E' I') as [[-> ->]|(k2 & E2' & I2)].
      * reflexivity.
      * specialize (L q' k2 a' E2' I2). lia.
      * specialize (L q k1 a E1 I1). lia.
      * eapply P; eassumption.
    + intros q k E F. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|apply (G q k E' F)].
      simpl. destruct before; discriminate.
    + intros q o' rest E. destruct (update_cases _ _ _ _ _ E) as [[<- F]|[_ E']]; [|apply (S q o' rest E')].
      injection F as F F'. subst b. destruct before as [|h before]; [destruct (G _ _ H5 eq_refl eq_refl)|].
      simpl in F'. injection F' as -> ->. apply (S _ _ _ H5).
    + exact K.
  - split; simpl; assumption.
  - (* a kernel goes on *)
    destruct H0 as [[Q _] _].
    destruct (queues_in_order g s (stream o) false true o rest (o :: rest) O Q (or_intror eq_refl)) as (A' & L' & P' & G').
    split; simpl in *; try assumption.
    + intros q o' rest' E.
      destruct (update_cases _ _ _ _ _ E) as [[_ F]|[_ E']].
      2:{ destruct (S q o' rest' E') as [F|[(l' & k & y & E1 & I & F)|F]]; [left; exact F| |right; right; exact F].
        right. left. destruct (stays _ _ _ (o, n) _ _ _ H3 E1 I) as (k' & E2 & I'). exists l', k', y. tauto. }
      injection F as -> _. right. left. exists l, (before ++ [(o, n)]), (o, n). simpl.
      rewrite (update_same _ _ _ _ H3). repeat split. apply in_app_iff. right. left. reflexivity.
    + intros l' k y E I. destruct (update_cases _ _ _ _ _ E) as [[_ ->]|[_ E']]; [|apply (K l' k y E' I)].
      apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (K _ _ _ H3 I)|]. exists n, need, lasts. exact H1.
  - (* a copy goes on *)
    destruct H0 as [[Q _] _].
    destruct (queues_in_order g s (stream o) false true o rest (o :: rest) O Q (or_intror eq_refl)) as (A' & L' & P' & G').
    split; simpl in *; try assumption.
    intros q o' rest' E.
    destruct (update_cases _ _ _ _ _ E) as [[_ F]|[_ E']].
    * injection F as -> _. right. right. exists e, (before ++ [o]), o. simpl. rewrite (update_same _ _ _ _ H2).
      repeat split. apply in_app_iff. right. left. reflexivity.
    * destruct (S q o' rest' E') as [F|[F|(e' & k & y & E1 & I & F)]]; [left; exact F|right; left; exact F|].
      right. right. destruct (stays _ _ _ o _ _ _ H2 E1 I) as (k' & E2 & I'). exists e', k', y. tauto.
  - (* a memset, record or wait ends *)
    destruct H0 as [[Q _] _].
    destruct (queues_in_order g s (stream o) false false o rest rest O Q (or_introl (conj eq_refl eq_refl)))
      as (A' & L' & P' & G').
    split; simpl in *; try assumption.
    intros q o' rest' E. destruct (update_cases _ _ _ _ _ E) as [[_ F]|[_ E']]; [discriminate F|apply (S q o' rest'
    E')].
  - (* a copy begins *)
    destruct H1 as [Q _]. split; simpl; try assumption. intros q o' rest' E.
    destruct (S q o' rest' E) as [(r & I & F)|[F|(e' & k & y & E1 & I & F)]].
    + left. exists r. simpl. split; [apply in_app_iff; left; exact I|exact F].
    + right. left. exact F.
    + destruct (Nat.eq_dec e e') as [<-|N].
      * rewrite Q in E1. injection E1 as <-. destruct I as [<-|I].
        { left. exists (Run o (Engine e) (now s + d)). simpl. split; [apply in_app_iff; right; left; reflexivity|exact
          F]. }
        { right. right. exists e, rest, y. simpl. rewrite (update_same _ _ _ _ Q). tauto. }
      * right. right. exists e', k, y. simpl. rewrite update_other by exact N. tauto.
  - (* a block is assigned *)
    destruct H2 as [Q _]. split; simpl; try assumption.
    + intros q o' rest' E. destruct (S q o' rest' E) as [(r & I & F)|[(l' & k & y & E1 & I & F)|F]].
      * left. exists r. simpl. split; [apply in_app_iff; left; exact I|exact F].
      * destruct (Nat.eq_dec l l') as [<-|N].
        { rewrite Q in E1. injection E1 as <-. destruct I as [<-|I].
          - left. exists (Run o (Sm i) (now s + d)). simpl. split; [apply in_app_iff; right; left; reflexivity|exact F].
          - right. left. exists l, (G3 o n rest), y. simpl. rewrite (update_same _ _ _ _ Q). repeat split; [|exact F].
            destruct n; [exact I|right; exact I]. }
        { right. left. exists l', k, y. simpl. rewrite update_other by exact N. tauto. }
      * right. right. exact F.
    + intros l' k y E I. destruct (update_cases _ _ _ _ _ E) as [[_ ->]|[_ E']]; [|apply (K l' k y E' I)].
      destruct n as [|n]; simpl in I; [apply (K _ _ _ Q); right; exact I|].
      destruct I as [<-|I]; [apply (K _ _ (o, Datatypes.S (Datatypes.S n)) Q); left; reflexivity|apply (K _ _ _ Q);
        right; exact I].
  - split; simpl; assumption.
  - split; simpl; assumption.
Qed.

Theorem a_run_cannot_stand_still :
  forall g xs s,
  steps g (empty g) xs s -> (forall o, In (Launch o) xs -> can_run g o) ->
  turn s = Dispatch -> no_copy_begins s -> no_block_fits g s -> running s = [] ->
  forall q k, nth_error (queues s) q = Some k -> waiting k = [].
Proof.
  intros g xs s H C T NC NB NR.
  assert (Inv : usage g s /\ everywhere (can_run g) s /\ in_order g s).
  { clear T NC NB NR. assert (U := usage_empty g). assert (V := everywhere_empty (can_run g) g).
    assert (O := in_order_empty g). revert U V O C. induction H as [s|s t u x xs St H IH]; intros U V O C; [tauto|].
    apply IH.
    - apply (usage_step g s x t U St).
    - apply (everywhere_step _ g s x t V St). intros o ->. apply C. left. reflexivity.
    - apply (in_order_step g s x t O St).
    - intros o I. apply C. right. exact I. }
  destruct Inv as (U & V & O). assert (W := usage_dispatch g s U T).
  assert (Nowhere : forall m, ~ somewhere s m).
  { intros m [(r & I & _)|[(l & k & x & E & I & _)|(e & k & p & E & I & _)]].
    - rewrite NR in I. destruct I.
    - destruct (some_kernel_next s) as [Z|(l' & o & n & rest & N)]; [rewrite (Z l k E) in I; destruct I|].
      destruct (order_kernels g s O _ _ _ (proj1 N) (or_introl eq_refl)) as (b & need & la & Wk). simpl in Wk.
      assert (Cr := everywhere_ee _ s V _ _ _ (proj1 N) (or_introl eq_refl)). simpl in Cr. unfold can_run in Cr.
      rewrite Wk in Cr. destruct Cr as [(i & cap & Ec & Mc & Fc) _].
      destruct (nth_error (free s) i) as [room|] eqn:Er.
      + assert (R := usage_free g s U i room cap Er Ec). rewrite NR in R. simpl in R.
        apply (NB _ _ _ _ _ _ _ i room N Wk Mc). split; [exact Er|]. unfold fits, R2, R3, Registers in *. parts. lia.
      + apply nth_error_None in Er. rewrite (usage_sms g s U) in Er.
        assert (i < length (sms g)) by (apply nth_error_Some; congruence). lia.
    - destruct k as [|h k]; [destruct I|]. apply (NC e h k). split; [exact E|]. intros r J. rewrite NR in J. destruct
      J. }
  assert (Empty : forall m q k o, nth_error (queues s) q = Some k -> In o (waiting k) -> number o = m -> False).
  { induction m as [m IH] using (well_founded_induction lt_wf). intros q k o E I M.
    destruct k as [b [|h rest]]; [destruct I|]. simpl in I. destruct I as [<-|I].
    - destruct b; [apply (Nowhere _ (order_somewhere g s O q h rest E))|].
      apply (W q h rest). split; [exact E|]. split; [|split].
      + intros -> other N _ h' (b' & rest' & E'). destruct (Nat.lt_trichotomy (number h) (number h')) as [X|[X|X]].
        * exact X.
        * exfalso. apply N. symmetry. eapply (order_apart g s O); [exact E|left; reflexivity|exact E'|left;
          reflexivity|exact X].
        * exfalso. rewrite M in X. eapply (IH _ X other _ h' E'); [left; reflexivity|reflexivity].
      + intros N _ h' (b' & rest' & E'). destruct (Nat.lt_trichotomy (number h) (number h')) as [X|[X|X]].
        * exact X.
        * exfalso. apply N. eapply (order_apart g s O); [exact E|left; reflexivity|exact E'|left; reflexivity|exact X].
        * exfalso. rewrite M in X. eapply (IH _ X 0 _ h' E'); [left; reflexivity|reflexivity].
      + intros r Wr q' k' p E' J X. assert (Cr := everywhere_queues _ s V q _ h E (or_introl eq_refl)).
        unfold can_run in Cr. rewrite Wr in Cr. rewrite M in Cr. apply (IH r Cr q' k' p E' J X).
    - assert (X := proj1 (order_ascending g s O q _ E) o I). rewrite M in X.
      eapply (IH _ X q _ h E); [left; reflexivity|reflexivity]. }
  intros q k E. destruct (waiting k) as [|o rest] eqn:F; [reflexivity|]. exfalso.
  apply (Empty (number o) q k o E); [rewrite F; left; reflexivity|reflexivity].
Qed.
