(* What the proofs need of lists, sums and resources. *)
From Coq Require Import List Arith Lia.
Import ListNotations.
From gpusched Require Import model.

Lemma update_length {A} (x : A) l : forall i, length (update i x l) = length l.
Proof. induction l as [|y l IH]; intros [|i]; simpl; congruence. Qed.

Lemma update_same {A} (x y : A) l : forall i, nth_error l i = Some y -> nth_error (update i x l) i = Some x.
Proof.
  induction l as [|z l IH]; intros [|i] E; simpl in *; try discriminate E; [reflexivity|]. apply (IH i E).
Qed.
Lemma update_other {A} (x : A) l : forall i j, i <> j -> nth_error (update i x l) j = nth_error l j.
Proof.
  induction l as [|z l IH]; intros [|i] [|j] N; simpl; try reflexivity; [congruence|]. apply IH. congruence.
Qed.
(* What is in an updated list is the new element or one of the old. *)
Lemma update_cases {A} (x y : A) l i j :
  nth_error (update i x l) j = Some y -> (i = j /\ y = x) \/ (i <> j /\ nth_error l j = Some y).
Proof.
  intros E. destruct (Nat.eq_dec i j) as [->|N].
  - left. split; [reflexivity|]. assert (L : j < length (update j x l)) by (apply nth_error_Some; congruence).
    rewrite update_length in L. destruct (nth_error l j) as [z|] eqn:F.
    + rewrite (update_same x z l j F) in E. congruence.
    + apply nth_error_None in F. lia.
  - right. split; [exact N|]. rewrite update_other in E by exact N. exact E.
Qed.

Fixpoint scale (k : nat) (r : resources) : resources := match k with 0 => nothing | S k' => plus r (scale k' r) end.

Lemma scale_fields k r :
  threads (scale k r) = k * threads r /\ slots (scale k r) = k * slots r /\
  shared (scale k r) = k * shared r /\ registers (scale k r) = k * registers r.
Proof. induction k as [|k IH]; simpl; [tauto|]. lia. Qed.

Lemma resources_eq a b :
  threads a = threads b -> slots a = slots b -> shared a = shared b -> registers a = registers b -> a = b.
Proof. destruct a, b; simpl; congruence. Qed.

(* Equations and inequalities of resources, by their parts. *)
Ltac parts := repeat match goal with
  | H : @eq resources ?a ?b |- _ =>
      let h1 := fresh in let h2 := fresh in let h3 := fresh in let h4 := fresh in
      assert (h1 := f_equal threads H); assert (h2 := f_equal slots H);
      assert (h3 := f_equal shared H); assert (h4 := f_equal registers H); clear H; simpl in h1, h2, h3, h4
  end.

Definition sum (l : list nat) : nat := fold_right Nat.add 0 l.

(* Where nobody has more than he may, somebody has less if and only if all together have. *)
Lemma some_less ks cs :
  Forall2 le ks cs ->
  (sum ks < sum cs <-> exists i k c, nth_error ks i = Some k /\ nth_error cs i = Some c /\ k < c).
Proof.
  intros F. assert (L : sum ks <= sum cs) by (induction F; simpl; lia).
  induction F as [|k c ks cs Hkc F IH]; simpl.
  - split; [lia|]. intros ([|i] & k & c & E & _); discriminate E.
  - assert (L' : sum ks <= sum cs) by (clear - F; induction F; simpl; lia). specialize (IH L'). split.
    + intros H. destruct (Nat.eq_dec k c) as [->|N].
      * assert (H' : sum ks < sum cs) by lia. apply IH in H'. destruct H' as (i & k' & c' & E). exists (S i), k', c'.
        exact E.
      * exists 0, k, c. simpl. repeat split; lia.
    + intros ([|i] & k' & c' & E & F' & G); simpl in E, F'.
      * injection E as ->. injection F' as ->. lia.
      * assert (H' : sum ks < sum cs) by (apply IH; exists i, k', c'; tauto). lia.
Qed.

Lemma sum_app l k : sum (l ++ k) = sum l + sum k.
Proof. induction l; simpl; lia. Qed.
Lemma sum_update {A} (f : A -> nat) x y l : forall i,
  nth_error l i = Some y -> sum (map f (update i x l)) + f y = sum (map f l) + f x.
Proof.
  induction l as [|z l IH]; intros [|i] E; try discriminate E; simpl in *; [injection E as ->; lia|].
  specialize (IH i E). lia.
Qed.
Lemma sum_none {A} (f : A -> nat) l : (forall x, In x l -> f x = 0) -> sum (map f l) = 0.
Proof. induction l as [|x l IH]; intros H; simpl; [reflexivity|]. rewrite (H x (or_introl eq_refl)), IH; firstorder.
  Qed.

Lemma NoDup_app_one {A} (l : list A) x : NoDup l -> ~ In x l -> NoDup (l ++ [x]).
Proof.
  intros N I. induction N as [|y l J N IH]; simpl; [constructor; [intros []|constructor]|]. constructor.
  - rewrite in_app_iff. simpl. intros [K|[->|[]]]; [exact (J K)|]. apply I. left. reflexivity.
  - apply IH. intros K. apply I. right. exact K.
Qed.
