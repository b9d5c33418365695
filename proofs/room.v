(* Blocks that weigh too little leave a head room on some SM, however they are spread over the SMs: docs/analysis.md,
   section 4, weights. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model executable follows lists usage queues serial closed busy next entries explored
  sharing.

Section Room.
Variables (g : device) (all : list operation).
Hypothesis K : kernels all.

Definition may_useb (i : operation) (sm : nat) : bool := negb (existsb (Nat.eqb sm) (nth (stream i) (masks g) [])).
(* The SMs that [i] may use. *)
Definition usable (i : operation) : list nat := filter (may_useb i) (seq 0 (length (sms g))).
Definition weigh (weight : operation -> nat) (l : list run) : nat := sum (map (fun r => weight (of r)) l).
(* What keeps a block of [i] out of one of these SMs weighs so much. *)
Definition weighs_there (weight : operation -> nat) (share : nat) (i : operation) : Prop :=
  forall sm cap room l, nth_error (sms g) sm = Some cap -> may_use g i sm -> (forall r, In r l -> In (of r) all) ->
  plus room (used sm l) = cap -> ~ fits (need_of i) room -> share <= weigh weight (filter (on_sm sm) l).

Lemma may_useb_use i sm : may_useb i sm = true <-> may_use g i sm.
Proof.
  unfold may_useb, may_use. rewrite negb_true_iff. split.
  - intros B I. assert (T : existsb (Nat.eqb sm) (nth (stream i) (masks g) []) = true); [|congruence].
    apply existsb_exists. exists sm. split; [exact I|apply Nat.eqb_refl].
  - intros N. destruct (existsb _ _) eqn:B; [|reflexivity]. apply existsb_exists in B. destruct B as (x & I & B).
    apply Nat.eqb_eq in B. subst x. destruct (N I).
Qed.
Lemma usable_use i sm : In sm (usable i) <-> sm < length (sms g) /\ may_use g i sm.
Proof. unfold usable. rewrite filter_In, in_seq, may_useb_use. intuition lia. Qed.
Lemma weigh_some weight i l n :
  sum (map (fun sm => weigh weight (filter (on_sm sm) l)) (filter (may_useb i) (seq 0 n))) <= weigh weight l.
Proof.
  unfold weigh. eapply Nat.le_trans; [|apply (by_sm (fun r => weight (of r)) n l)]. generalize (seq 0 n). clear.
  induction l0 as [|x m IH]; simpl; [lia|]. destruct (may_useb i x); simpl; lia.
Qed.

(* What weighs less than the shares of all of them together leaves room. *)
Theorem light_blocks_leave_room weight share i s : usage g s -> everywhere (fun o => In o all) s ->
  weighs_there weight share i -> weigh weight (running s) < share * length (usable i) ->
  exists sm room, may_use g i sm /\ R1 s (need_of i) sm room.
Proof.
  intros U E W L.
  destruct (existsb (fun sm => match nth_error (free s) sm with Some room => fitsb (need_of i) room | None => false
    end)
    (usable i)) eqn:B.
  - apply existsb_exists in B. destruct B as (sm & I & B). apply usable_use in I.
    destruct (nth_error (free s) sm) as [room|] eqn:F; [|discriminate B]. exists sm, room.
    split; [apply I|]. split; [exact F|apply fitsb_fits, B].
  - exfalso. assert (Each : forall sm, In sm (usable i) -> share <= weigh weight (filter (on_sm sm) (running s))).
    { intros sm I. assert (I' := proj1 (usable_use i sm) I). destruct I' as [Lt M].
      destruct (nth_error (sms g) sm) as [cap|] eqn:C; [|apply nth_error_None in C; lia].
      destruct (nth_error (free s) sm) as [room|] eqn:F;
        [|apply nth_error_None in F; rewrite (usage_sms g s U) in F; lia].
      apply (W sm cap room (running s) C M); [apply (everywhere_running _ s E)|apply (usage_free g s U sm room cap F
        C)|].
      intros Y. assert (T : existsb (fun sm => match nth_error (free s) sm with Some room => fitsb (need_of i) room
        | None => false end) (usable i) = true); [|congruence]. apply existsb_exists. exists sm. split; [exact I|].
      rewrite F. apply fitsb_fits, Y. }
    assert (X := weigh_some weight i (running s) (length (sms g))). fold (usable i) in X.
    assert (Y : forall l, (forall sm, In sm l -> share <= weigh weight (filter (on_sm sm) (running s))) ->
      share * length l <= sum (map (fun sm => weigh weight (filter (on_sm sm) (running s))) l)).
    { induction l as [|x m IH]; intros H; simpl; [lia|]. specialize (H x (or_introl eq_refl)) as Hx.
      specialize (IH (fun sm I => H sm (or_intror I))). lia. }
    specialize (Y _ Each). lia.
Qed.

(* What blocks weigh, counted by kernel. *)
Lemma weigh_by_kernel weight l count : (forall r, In r l -> In (of r) all /\ is_block r = true) ->
  (forall o, In o all -> on_sms (number o) l <= count o) -> NoDup all ->
  weigh weight l <= sum (map (fun o => weight o * count o) all).
Proof.
  intros In_all Few Once. eapply Nat.le_trans with (sum (map (fun o => weight o * on_sms (number o) l) all)).
  - clear Few. unfold weigh. induction l as [|r l IH]; simpl; [lia|].
    specialize (IH (fun x I => In_all x (or_intror I))). destruct (In_all r (or_introl eq_refl)) as [I B].
    assert (M : exists a b, all = a ++ of r :: b) by (apply in_split, I). destruct M as (a & b & Ea).
    assert (Y : sum (map (fun o => weight o * on_sms (number o) l) all) + weight (of r) <=
      sum (map (fun o => weight o * on_sms (number o) (r :: l)) all)); [|lia].
    assert (Less : forall m, sum (map (fun o => weight o * on_sms (number o) l) m) <=
      sum (map (fun o => weight o * on_sms (number o) (r :: l)) m)).
    { assert (Le : forall k, on_sms k l <= on_sms k (r :: l)).
      { intros k. unfold on_sms. simpl. destruct (is_block r && (number (of r) =? k)); simpl; lia. }
      induction m as [|o m IHm]; simpl; [lia|]. specialize (Le (number o)). nia. }
    assert (One : on_sms (number (of r)) (r :: l) = S (on_sms (number (of r)) l)).
    { unfold on_sms. simpl. rewrite B, Nat.eqb_refl. reflexivity. }
    rewrite Ea, !map_app, !sum_app. simpl. rewrite One. assert (La := Less a). assert (Lb := Less b). nia.
  - clear In_all Once. revert Few. generalize all as k. induction k as [|o m IHm]; intros Few; simpl; [lia|].
    specialize (Few o (or_introl eq_refl)) as F. specialize (IHm (fun x I => Few x (or_intror I))). nia.
Qed.

(* So many of each kernel, and nothing heavier than that, leaves room in the exploration. *)
Theorem light_enough A i m weight share count : NoDup all -> In i all -> weighs_there weight share i ->
  later (start_of A i m) (firstn m (ends_of A i)) <= count i ->
  (forall o, In o all -> In (number o) (done A) -> later (start_of A i m) (runs A (number o)) <= count o) ->
  (forall o z, eligible g all A o -> o <> i -> level_of g 0 (stream i) < level_of g 0 (stream o) ->
    last_begun g all A i (level_of g 0 (stream o)) = Some z -> earliest g all A o <= z ->
    start_of A i m < z + worst_of o -> blocks_of o - 1 <= count o) ->
  sum (map (fun o => weight o * count o) all) < share * length (usable i) -> leaves_room g all A i m.
Proof.
  intros Once Ii W Own Done Lower L before s V R. assert (S := inv_sound _ _ _ _ V).
  apply (light_blocks_leave_room weight share i s (sound_usage _ _ _ _ S) (sound_all _ _ _ _ S) W).
  eapply Nat.le_lt_trans; [|exact L]. apply weigh_by_kernel; [|intros o Io|exact Once].
  - intros r I. destruct (run_facts g all K _ _ r V I) as (_ & M & B). tauto.
  - destruct (Nat.eq_dec (number o) (number i)) as [Z|Z].
    { rewrite (kernels_apart all K o i Io Ii Z). eapply Nat.le_trans; [apply (may_own _ _ _ _ _ _ R)|exact Own]. }
    destruct (in_dec Nat.eq_dec (number o) (done A)) as [D|D].
    { eapply Nat.le_trans; [apply (may_done _ _ _ _ _ _ R _ D)|apply (Done o Io D)]. }
    destruct (existsb (fun r => number (of r) =? number o) (running s)) eqn:B.
    + apply existsb_exists in B. destruct B as (r & I & B). apply Nat.eqb_eq in B.
      destruct (run_facts g all K _ _ r V I) as (_ & M & _). assert (Er := kernels_apart all K _ _ M Io B).
      destruct (may_lower _ _ _ _ _ _ R r I) as (El & Lv & Few & z & Z1 & Z2 & Z3); try congruence.
      rewrite Er in *. specialize (Lower o z El ltac:(congruence) Lv Z1 Z2 Z3). lia.
    + rewrite on_sms_none; [lia|]. intros r I Y.
      assert (T : existsb (fun r => number (of r) =? number o) (running s) = true); [|congruence].
      apply existsb_exists. exists r. split; [exact I|apply Nat.eqb_eq, Y].
Qed.
End Room.
