(* What the rules leave open in a state: what hosts launch and when they have done so, on which SM a block runs, how long
   blocks and copies run, and into how many steps a time without events is divided. All else follows. *)
From Coq Require Import List Arith Lia.
Import ListNotations.
From gpusched Require Import model executable follows lists usage next.

Definition open_choice (x y : label) : Prop :=
  match x, y with
  | (Launch _ | DispatchTurn), (Launch _ | DispatchTurn) => True
  | Begin o _, Begin p _ => o = p
  | Assign o _ _, Assign p _ _ => o = p
  | Until _, Until _ => True
  | _, _ => x = y
  end.

Lemma first_of_list (l : list run) t : forall b r a b' r' a', l = b ++ r :: a -> ends r = t ->
  (forall x, In x b -> ends x <> t) -> l = b' ++ r' :: a' -> ends r' = t -> (forall x, In x b' -> ends x <> t) -> r = r'.
Proof.
  induction l as [|x l IH]; intros b r a b' r' a' E R B E' R' B'; [destruct b; discriminate E|].
  destruct b as [|y b], b' as [|y' b']; simpl in *; injection E as -> E; injection E' as E1 E'.
  - exact E1.
  - subst y'. destruct (B' r (or_introl eq_refl) R).
  - subst y. destruct (B r' (or_introl eq_refl) R').
  - apply (IH b r a b' r' a' E R (fun z I => B z (or_intror I)) E' R' (fun z I => B' z (or_intror I))).
Qed.

(* A step leads to one state only; and what another step can be from the same state. *)
Theorem a_step_leads_to_one_state g s x t u : step g s x t -> step g s x u -> t = u.
Proof.
  intros A B. apply exec_does_what_the_rules_allow in A. apply exec_does_what_the_rules_allow in B. congruence.
Qed.

Theorem only_these_choices g s x y t u : usage g s -> step g s x t -> step g s y u -> open_choice x y.
Proof.
  intros U H H'. assert (Went := usage_dispatch g s U).
  assert (Ready : forall o rest, first_ready g s (stream o) o rest -> ~ all_went_on g s)
    by (intros o rest [R _] A; apply (A _ _ _ R)).
  assert (Ends : forall b r a b' r' a', running s = b ++ r :: a -> ends r = now s ->
    (forall x, In x b -> ends x <> now s) -> running s = b' ++ r' :: a' -> ends r' = now s ->
    (forall x, In x b' -> ends x <> now s) -> r = r') by (apply first_of_list).
  assert (None : forall b r a, running s = b ++ r :: a -> ends r = now s -> none_ends_now s -> False).
  { intros b r a E R N. apply (N r); [rewrite E; apply in_elt|exact R]. }
  assert (First : forall o m p m', first_ready g s (stream o) o m -> first_ready g s (stream p) p m' -> o = p).
  { intros o m p m' [R L] [R' L']. destruct (Nat.eq_dec (stream o) (stream p)) as [Z|Z].
    - destruct R as [Q _], R' as [Q' _]. rewrite Z in Q. rewrite Q in Q'. injection Q'. congruence.
    - exfalso. assert (A := L _ _ _ R' (not_eq_sym Z)). assert (B := L' _ _ _ R Z). lia. }
  destruct H; destruct H'; simpl; try exact I; try congruence;
    try (match goal with A : all_went_on g s, F : first_ready g s _ _ _ |- _ => destruct (Ready _ _ F A) end);
    try (match goal with T : turn s = Dispatch, F : first_ready g s _ _ _ |- _ => destruct (Ready _ _ F (Went T)) end);
    try (match goal with M : may_begin s _ _ _, N : no_copy_begins s |- _ => destruct (N _ _ _ M) end);
    try (match goal with |- End (of ?r) _ = End (of ?p) _ =>
      replace p with r by (eapply Ends; eassumption); reflexivity end);
    try (exfalso; eapply None; eassumption);
    try (f_equal; eapply First; eassumption);
    try (match goal with
      N : no_block_fits _ s, K : next_kernel s _ _ (S _) _, W : what _ = Kernel _ _ _, M : may_use _ _ _,
      R : R1 s _ _ _ |- _ => destruct (N _ _ _ _ _ _ _ _ _ K W M R) end);
    try (match goal with E : ends ?r = now s, I : In ?r (running s), N : none_ends_now s |- _ => destruct (N r I E) end).
  - match goal with M : may_begin s e o _, M' : may_begin s e0 o0 _ |- _ =>
      assert (Z : e = e0) by (apply Nat.le_antisymm; eauto); destruct M as [Q _], M' as [Q' _] end.
    rewrite Z in *. congruence.
  - match goal with K : next_kernel s _ o _ _, K' : next_kernel s _ o0 _ _ |- _ =>
      apply (next_unique _ _ _ _ _ _ _ _ _ K K') end.
Qed.
