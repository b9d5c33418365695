(* How many blocks of one kind an empty SM holds, and how many waves so many blocks are. *)
From Coq Require Import Arith Lia.
From gpusched Require Import model lists usage.

(* How many blocks an SM holds at least when no other fits beside them. *)
Definition held (need cap : resources) : nat :=
  let all := slots cap / slots need in
  let part n c := if n =? 0 then all else c / n in
  min all (min (part (threads need) (threads cap))
               (min (part (shared need) (shared cap)) (part (registers need) (registers cap)))).

Lemma full_sm need cap room k :
  0 < slots need -> plus room (scale k need) = cap -> ~ fits need room -> held need cap <= k.
Proof.
  intros P E N. apply Nat.nlt_ge. intros L. apply N. destruct (scale_fields k need) as (A & C & D & F).
  assert (W : forall n c r, r + k * n = c -> (n =? 0 = false -> S k <= c / n) -> n <= r).
  { intros n c r Q H. destruct (Nat.eqb_spec n 0) as [->|Z]; [lia|]. specialize (H eq_refl).
    assert (X := Nat.mul_div_le c n Z). assert (Y : n * S k <= n * (c / n)) by (apply Nat.mul_le_mono_l, H). nia. }
  unfold held in L. parts. rewrite A, C, D, F in *.
  unfold fits, R2, R3, Registers. repeat split.
  - apply (W _ (threads cap)); [assumption|]. intros Z. rewrite Z in L. lia.
  - apply (W _ (slots cap)); [assumption|]. intros Z. lia.
  - apply (W _ (shared cap)); [assumption|]. intros Z. rewrite Z in L. lia.
  - apply (W _ (registers cap)); [assumption|]. intros Z. rewrite Z in L. lia.
Qed.

Definition ceil (a b : nat) : nat := (a + b - 1) / b.
Lemma ceil_more a b c : a <= b -> ceil a c <= ceil b c.
Proof. intros L. unfold ceil. destruct c; [simpl; lia|]. apply Nat.div_le_mono; lia. Qed.
Lemma ceil_next a c : 0 < c -> ceil (a + c) c = S (ceil a c).
Proof.
  intros L. unfold ceil. replace (a + c + c - 1) with (a + c - 1 + 1 * c) by lia. rewrite Nat.div_add by lia. lia.
Qed.
Lemma ceil_some a c : 0 < a -> 0 < c -> 1 <= ceil a c.
Proof. intros A L. unfold ceil. apply Nat.div_le_lower_bound; lia. Qed.
