(* What blocks of lower priorities can add to the waits of a chain: the counting argument of docs/analysis.md, "Lower
   priorities in the waits", and what it takes from the rules. *)
From Coq Require Import List Arith Bool Lia Permutation.
Import ListNotations.
From gpusched Require Import model lists usage queues.

(* From the rules: while a queue of some level holds a kernel, no block of a lower one is assigned; and all that runs of
   a stream is of one operation. *)
Lemma no_lower_block_begins g s o i d t l x k : kept g s -> step g s (Assign o i d) t ->
  nth_error (ee s) l = Some (x :: k) ->
  exists j, nth_error (streams g) (stream o) = Some j /\ level j <= l.
Proof.
  intros K H E. inversion H; subst.
  match goal with N : next_kernel s _ o _ _ |- _ => destruct N as [Q Low] end.
  destruct (kept_ee g s K _ _ _ Q (or_introl eq_refl)) as (_ & (j & F & L) & _). exists j. split; [exact F|].
  rewrite L. apply Nat.nlt_ge. intros Lt. rewrite (Low l Lt) in E. discriminate E.
Qed.
Lemma one_operation_of_a_stream g s a b : kept g s -> In a (running s) -> In b (running s) ->
  stream (of a) = stream (of b) -> of a = of b.
Proof.
  intros K A B S. destruct (kept_running K a A) as [ra Qa], (kept_running K b B) as [rb Qb]. congruence.
Qed.

(* Sums of sums. *)
Lemma sum_le {A} (f h : A -> nat) l : (forall x, In x l -> f x <= h x) -> sum (map f l) <= sum (map h l).
Proof.
  induction l as [|x l IH]; intros H; simpl; [lia|]. specialize (H x (or_introl eq_refl)) as Hx.
  specialize (IH (fun y I => H y (or_intror I))). lia.
Qed.
Lemma sum_plus {A} (f h : A -> nat) l : sum (map (fun x => f x + h x) l) = sum (map f l) + sum (map h l).
Proof. induction l; simpl; lia. Qed.
Lemma sum_times {A} (f : A -> nat) c l : sum (map (fun x => f x * c) l) = sum (map f l) * c.
Proof. induction l; simpl; lia. Qed.
Lemma sum_swap {A B} (f : A -> B -> nat) l k :
  sum (map (fun x => sum (map (f x) k)) l) = sum (map (fun y => sum (map (fun x => f x y) l)) k).
Proof.
  induction l as [|x l IH]; simpl; [symmetry; apply sum_none; reflexivity|]. rewrite IH, <- sum_plus. reflexivity.
Qed.

(* A sum, key by key. *)
Lemma key_by_key (key f : nat -> nat) keys l : (forall i, In i l -> In (key i) keys) ->
  sum (map f l) <= sum (map (fun j => sum (map f (filter (fun i => key i =? j) l))) keys).
Proof.
  induction l as [|i l IH]; intros K; simpl; [lia|]. specialize (IH (fun j J => K j (or_intror J))).
  specialize (K i (or_introl eq_refl)).
  assert (E : forall ks, sum (map (fun j => sum (map f (filter (fun i => key i =? j) (i :: l)))) ks) =
    sum (map (fun j => if key i =? j then f i else 0) ks) +
    sum (map (fun j => sum (map f (filter (fun i => key i =? j) l))) ks)).
  { induction ks as [|j ks IHk]; [reflexivity|]. simpl in IHk |- *. rewrite IHk. destruct (key i =? j); simpl; lia. }
  simpl in E. rewrite E. enough (f i <= sum (map (fun j => if key i =? j then f i else 0) keys)) by lia.
  clear - K. induction keys as [|j ks IH]; [destruct K|]. simpl. destruct K as [->|K].
  - rewrite Nat.eqb_refl. lia.
  - specialize (IH K). lia.
Qed.

(* Of a list from the largest number on, no [n] of its numbers are more than the first [n]. *)
Lemma the_largest_are_most l : (forall k x m, l = k ++ x :: m -> forall y, In y m -> y <= x) ->
  forall n some rest, Permutation (some ++ rest) l -> length some <= n -> sum some <= sum (firstn n l).
Proof.
  induction l as [|x l IH]; intros S n some rest P L.
  - apply Permutation_sym, Permutation_nil in P. destruct some; [simpl; lia|discriminate P].
  - assert (S' : forall k y m, l = k ++ y :: m -> forall z, In z m -> z <= y).
    { intros k y m -> z I. apply (S (x :: k) y m eq_refl z I). }
    destruct n as [|n]; [destruct some; simpl in *; lia|]. simpl firstn. simpl.
    assert (Sum : forall a b, Permutation a b -> sum a = sum b) by (intros a b Q; induction Q; simpl; lia).
    assert (Ix : In x (some ++ rest)) by (eapply Permutation_in; [apply Permutation_sym, P|left; reflexivity]).
    apply in_app_iff in Ix. destruct Ix as [Ix|Ix].
    + apply in_split in Ix. destruct Ix as (k & m & ->). assert (Q := Sum _ _ (Permutation_middle k m x)). simpl in Q.
      assert (Z := IH S' n (k ++ m) rest).
      assert (P' : Permutation ((k ++ m) ++ rest) l).
      { apply (Permutation_cons_inv (a := x)). eapply Permutation_trans; [|exact P].
        rewrite <- !app_assoc. simpl. apply Permutation_middle. }
      specialize (Z P'). rewrite app_length in *. simpl in L. specialize (Z ltac:(lia)). unfold sum in *. lia.
    + destruct some as [|y some]; [simpl; lia|]. apply in_split in Ix. destruct Ix as (k & m & ->).
      assert (Le : y <= x).
      { assert (Iy : In y (x :: l)) by (eapply Permutation_in; [exact P|left; reflexivity]).
        destruct Iy as [->|Iy]; [lia|apply (S [] x l eq_refl y Iy)]. }
      assert (P' : Permutation (some ++ (y :: k ++ m)) l).
      { apply (Permutation_cons_inv (a := x)). eapply Permutation_trans; [|exact P]. simpl.
        eapply Permutation_trans; [|apply perm_skip; rewrite app_assoc; apply Permutation_middle].
        eapply Permutation_trans; [apply perm_skip, Permutation_sym, Permutation_middle|].
        rewrite app_assoc. apply perm_swap. }
      assert (Z := IH S' n some (y :: k ++ m) P'). simpl in L. specialize (Z ltac:(lia)). simpl. lia.
Qed.

(* What a kernel can add to each wait, the most first: so much as is at once, as often as there is enough, then the
   rest. In [m] waits it adds no more than the first [m] of these. *)
Definition slots_of (at_once all each : nat) : list nat :=
  repeat (at_once * each) (all / at_once) ++ [all mod at_once * each].
Lemma in_so_many_waits at_once all each m :
  Nat.min (m * at_once) all * each <= sum (firstn m (slots_of at_once all each)).
Proof.
  destruct (Nat.eq_dec at_once 0) as [->|Pos]; [rewrite Nat.mul_0_r; apply Nat.le_0_l|].
  unfold slots_of. assert (D := Nat.div_mod all at_once ltac:(lia)).
  assert (R : forall n k, k <= n -> sum (firstn k (repeat (at_once * each) n)) = k * (at_once * each)).
  { induction n as [|n IH]; intros [|k] L; try reflexivity; [lia|]. specialize (IH k ltac:(lia)). simpl. lia. }
  rewrite firstn_app, sum_app, repeat_length.
  destruct (Nat.le_gt_cases m (all / at_once)) as [L|L].
  - rewrite R by exact L. nia.
  - rewrite firstn_all2 by (rewrite repeat_length; lia).
    rewrite <- (firstn_all (repeat (at_once * each) (all / at_once))), repeat_length, R by lia.
    replace (m - all / at_once) with (S (m - all / at_once - 1)) by lia. simpl.
    assert (E : all * each = all / at_once * (at_once * each) + all mod at_once * each) by nia.
    rewrite firstn_nil. simpl.
    assert (M := Nat.le_min_r (m * at_once) all). nia.
Qed.

(* Kernels of one stream, of which each is in so many waits, together in no more than [n]. *)
Lemma one_stream ks (at_once all each m : nat -> nat) n largest :
  (forall k x r, largest = k ++ x :: r -> forall y, In y r -> y <= x) ->
  Permutation largest (flat_map (fun j => slots_of (at_once j) (all j) (each j)) ks) -> sum (map m ks) <= n ->
  sum (map (fun j => Nat.min (m j * at_once j) (all j) * each j) ks) <= sum (firstn n largest).
Proof.
  intros S P L. eapply Nat.le_trans; [apply sum_le; intros j _; apply in_so_many_waits|].
  set (slots := fun j => slots_of (at_once j) (all j) (each j)) in *.
  set (some := flat_map (fun j => firstn (m j) (slots j)) ks).
  assert (E : sum (map (fun j => sum (firstn (m j) (slots j))) ks) = sum some).
  { subst some. clear. induction ks as [|j ks IH]; [reflexivity|]. simpl. rewrite sum_app, IH. reflexivity. }
  change (sum (map (fun j => sum (firstn (m j) (slots j))) ks) <= sum (firstn n largest)). rewrite E.
  apply (the_largest_are_most largest S n some (flat_map (fun j => skipn (m j) (slots j)) ks)).
  - eapply Permutation_trans; [|apply Permutation_sym, P]. subst some. clear. induction ks as [|j ks IH]; [reflexivity|].
    simpl. rewrite <- app_assoc. rewrite <- (firstn_skipn (m j) (slots j)) at 3. rewrite <- app_assoc.
    apply Permutation_app_head. eapply Permutation_trans; [|apply Permutation_app_head, IH].
    rewrite !app_assoc. apply Permutation_app_tail, Permutation_app_comm.
  - eapply Nat.le_trans; [|exact L]. subst some. clear. induction ks as [|j ks IH]; [simpl; lia|]. simpl.
    rewrite app_length, firstn_length. lia.
Qed.

Section Waits.
(* Blocks of lower priorities have numbers; [runs_from] and [runs_until] say when they run, [kernel] of what they are.
   Of a kernel: its stream, how long a block of it may run, how much one weighs, how many there are in all, and how many
   of them run at once at most. *)
Variables (ids : list nat) (runs_from runs_until kernel : nat -> nat).
Variables (kernels : list nat) (stream_of longest weight grid resident : nat -> nat).
(* Blocks that weigh this much keep a head out; and what all other blocks weigh that run at an instant. *)
Variables (one : nat) (others : nat -> nat).
(* From when until when each wait lasts, one after another. *)
Variable waits : list (nat * nat).

Definition runs (i t : nat) : bool := (runs_from i <=? t) && (t <? runs_until i).
Definition of_kernel (j : nat) (l : list nat) : list nat := filter (fun i => kernel i =? j) l.
Fixpoint one_after_another (t : nat) (l : list (nat * nat)) : Prop :=
  match l with [] => True | (a, b) :: rest => t <= a /\ a <= b /\ one_after_another b rest end.

Hypothesis ids_apart : NoDup ids.
Hypothesis kernels_apart : NoDup kernels.
Hypothesis known : forall i, In i ids -> In (kernel i) kernels.
Hypothesis short : forall i, In i ids -> runs_until i <= runs_from i + longest (kernel i).
Hypothesis in_grid : forall j, length (of_kernel j ids) <= grid j.
Hypothesis few : forall j t, length (of_kernel j (filter (fun i => runs i t) ids)) <= resident j.
Hypothesis one_kernel : forall i i' t, In i ids -> In i' ids -> runs i t = true -> runs i' t = true ->
  stream_of (kernel i) = stream_of (kernel i') -> kernel i = kernel i'.
Hypothesis in_order : one_after_another 0 waits.
(* No block of a lower priority begins in a wait, and at each instant of it what runs keeps a head out. *)
Hypothesis none_begins : forall a b i, In (a, b) waits -> In i ids -> runs_from i <= a \/ b <= runs_from i.
Hypothesis kept_out : forall a b t, In (a, b) waits -> a <= t < b ->
  one <= others t + sum (map (fun i => weight (kernel i)) (filter (fun i => runs i t) ids)).

(* Parts of the blocks in a list that end last: no more than [rest] in all, and at every instant so much of them still
   runs, or all that does. *)
Lemma parts_that_end_last : forall n l rest, length l = n -> NoDup l -> exists x : nat -> nat,
  (forall i, x i <= weight (kernel i)) /\ sum (map x l) <= rest /\
  forall t, Nat.min rest (sum (map (fun i => if t <? runs_until i then weight (kernel i) else 0) l)) <=
    sum (map (fun i => if t <? runs_until i then x i else 0) l).
Proof.
  induction n as [|n IH]; intros l rest Len D.
  - destruct l; [|discriminate Len]. exists (fun _ => 0). simpl. repeat split; intros; lia.
  - assert (Last : exists m l1 l2, l = l1 ++ m :: l2 /\ forall i, In i l -> runs_until i <= runs_until m).
    { clear IH D. revert Len. generalize n as k. clear n. induction l as [|i l IHl]; intros k Len; [discriminate Len|].
      destruct l as [|i' l].
      - exists i, [], []. split; [reflexivity|]. intros j [<-|[]]. lia.
      - destruct k as [|k]; [discriminate Len|]. destruct (IHl k ltac:(simpl in *; congruence)) as (m & l1 & l2 & E & H).
        destruct (Nat.le_gt_cases (runs_until m) (runs_until i)) as [Le|Gt].
        + exists i, [], (i' :: l). split; [reflexivity|]. intros j [<-|J]; [lia|]. specialize (H j J). lia.
        + exists m, (i :: l1), l2. split; [simpl; congruence|]. intros j [<-|J]; [lia|]. apply H, J. }
    destruct Last as (m & l1 & l2 & E & Last).
    assert (Ins : forall f : nat -> nat, sum (map f l) = f m + sum (map f (l1 ++ l2))).
    { intros f. rewrite E, !map_app, !sum_app. simpl. lia. }
    assert (Out : ~ In m (l1 ++ l2)) by (apply NoDup_remove_2; rewrite <- E; exact D).
    set (own := Nat.min rest (weight (kernel m))).
    destruct (IH (l1 ++ l2) (rest - own)) as (x & X1 & X2 & X3).
    { rewrite E in Len. rewrite app_length in *. simpl in Len. lia. }
    { apply (NoDup_remove_1 l1 l2 m). rewrite <- E. exact D. }
    set (y := fun i => if i =? m then own else x i).
    assert (Same : forall i, In i (l1 ++ l2) -> y i = x i).
    { intros i I. unfold y. destruct (Nat.eqb_spec i m) as [->|]; [destruct (Out I)|reflexivity]. }
    assert (Ym : y m = own) by (unfold y; rewrite Nat.eqb_refl; reflexivity).
    exists y. split; [|split].
    + intros i. unfold y. destruct (Nat.eqb_spec i m) as [->|]; [unfold own; lia|apply X1].
    + rewrite Ins, Ym, (map_ext_in y x _ Same). unfold own in *. lia.
    + intros t. rewrite !Ins, Ym. specialize (X3 t).
      rewrite (map_ext_in (fun i => if t <? runs_until i then y i else 0) (fun i => if t <? runs_until i then x i else 0)
        (l1 ++ l2)) by (intros i I; rewrite (Same i I); reflexivity).
      destruct (Nat.ltb_spec t (runs_until m)) as [Lt|Ge]; [unfold own in *; lia|].
      rewrite (sum_none (fun i => if t <? runs_until i then weight (kernel i) else 0)); [lia|].
      intros i I. assert (J : In i l) by (rewrite E; apply in_app_iff in I; apply in_app_iff; simpl; tauto).
      specialize (Last i J). destruct (Nat.ltb_spec t (runs_until i)); [lia|reflexivity].
Qed.

(* What ran when a wait began, and for how much of the wait each of these blocks runs. *)
Definition there (w : nat * nat) : list nat := filter (fun i => runs i (fst w)) ids.
Definition time_in (w : nat * nat) (i : nat) : nat := Nat.min (runs_until i) (snd w) - fst w.
Definition others_in (w : nat * nat) : nat := sum (map others (seq (fst w) (snd w - fst w))).

Lemma instants v a len until : sum (map (fun t => if t <? until then v else 0) (seq a len)) = v * Nat.min len (until - a).
Proof.
  revert a. induction len as [|len IH]; intros a; [simpl; lia|]. simpl seq. simpl map. simpl sum.
  change (sum (?x :: ?l)) with (x + sum l). rewrite IH. destruct (Nat.ltb_spec a until).
  - replace (until - a) with (S (until - S a)) by lia. simpl. lia.
  - replace (until - a) with 0 by lia. replace (until - S a) with 0 by lia. rewrite !Nat.min_0_r. lia.
Qed.

(* A wait is no longer than what others weigh in it and parts of what ran when it began. *)
Lemma one_wait w : In w waits -> fst w <= snd w -> exists x : nat -> nat,
  (forall i, x i <= weight (kernel i)) /\ sum (map x (there w)) <= one /\
  one * (snd w - fst w) <= others_in w + sum (map (fun i => x i * time_in w i) (there w)).
Proof.
  destruct w as [a b]. simpl. intros I Le.
  destruct (parts_that_end_last _ (there (a, b)) one eq_refl (NoDup_filter _ ids_apart)) as (x & X1 & X2 & X3).
  exists x. split; [exact X1|]. split; [exact X2|].
  assert (At : forall t, In t (seq a (b - a)) ->
    one <= others t + sum (map (fun i => if t <? runs_until i then x i else 0) (there (a, b)))).
  { intros t It. apply in_seq in It. assert (K := kept_out a b t I ltac:(lia)). specialize (X3 t).
    assert (Same : sum (map (fun i => weight (kernel i)) (filter (fun i => runs i t) ids)) <=
      sum (map (fun i => if t <? runs_until i then weight (kernel i) else 0) (there (a, b)))).
    { unfold there. simpl. clear - none_begins I It. revert none_begins. generalize ids as l.
      induction l as [|i l IHl]; intros N; simpl; [lia|].
      specialize (IHl (fun a b j J K => N a b j J (or_intror K))). destruct (N a b i I (or_introl eq_refl)) as [Q|Q].
      - assert (Rt : runs i t = (t <? runs_until i))
          by (unfold runs; destruct (Nat.leb_spec (runs_from i) t); [reflexivity|lia]).
        assert (Ra : runs i a = (a <? runs_until i))
          by (unfold runs; destruct (Nat.leb_spec (runs_from i) a); [reflexivity|lia]).
        rewrite Rt, Ra. destruct (t <? runs_until i) eqn:Et, (a <? runs_until i) eqn:Ea; simpl; rewrite ?Et; try lia.
        rewrite Nat.ltb_lt in Et. rewrite Nat.ltb_ge in Ea. lia.
      - assert (Rt : runs i t = false) by (unfold runs; destruct (Nat.leb_spec (runs_from i) t); [lia|reflexivity]).
        rewrite Rt. destruct (runs i a); simpl; lia. }
    lia. }
  assert (T := sum_le (fun _ => one) _ _ At). rewrite sum_plus, sum_swap in T.
  assert (Left : sum (map (fun _ => one) (seq a (b - a))) = one * (b - a)).
  { clear. generalize a at 1. generalize (b - a). induction n as [|n IH]; intros c; simpl; [lia|]. rewrite IH. lia. }
  rewrite Left in T. unfold others_in. simpl.
  eapply Nat.le_trans; [exact T|]. apply Nat.add_le_mono_l. apply sum_le. intros i _. rewrite instants.
  unfold time_in. simpl. apply Nat.mul_le_mono_l. lia.
Qed.

(* A block runs in all waits together no longer than it runs. *)
Lemma in_all_waits i p l : In i ids -> forall t, one_after_another t l -> runs_from i <= t ->
  sum (map (fun w => if runs i (fst w) then time_in w i - p else 0) l) <= runs_until i - t - p.
Proof.
  intros I. induction l as [|[a b] l IH]; intros t O F; simpl; [lia|]. destruct O as (L & M & O).
  specialize (IH b O ltac:(lia)). change (time_in (a, b) i) with (Nat.min (runs_until i) b - a).
  destruct (runs i a) eqn:R; [|lia].
  unfold runs in R. rewrite andb_true_iff, Nat.leb_le, Nat.ltb_lt in R. lia.
Qed.
Lemma in_any_waits i p l : In i ids -> forall t, one_after_another t l ->
  sum (map (fun w => if runs i (fst w) then time_in w i - p else 0) l) <= longest (kernel i) - p.
Proof.
  intros I t O. destruct (Nat.le_gt_cases (runs_from i) t) as [L|L].
  - assert (Z := in_all_waits i p l I t O L). assert (S := short i I). lia.
  - revert t O L. induction l as [|[a b] l IH]; intros t O L; simpl; [lia|]. destruct O as (La & M & O).
    destruct (runs i a) eqn:R.
    + assert (R' := R). unfold runs in R'. rewrite andb_true_iff, Nat.leb_le, Nat.ltb_lt in R'.
      assert (Z := in_all_waits i p ((a, b) :: l) I (runs_from i)). simpl in Z. rewrite R in Z.
      assert (S := short i I). specialize (Z ltac:(repeat split; [lia|exact M|exact O]) (le_n _)). lia.
    + destruct (Nat.le_gt_cases (runs_from i) b) as [Lb|Lb]; [|apply (IH b O Lb)].
      assert (Z := in_all_waits i p l I b O Lb). assert (S := short i I). lia.
Qed.

(* How many waits begin when a kernel runs. *)
Definition is_there (j : nat) (w : nat * nat) : bool := existsb (fun i => kernel i =? j) (there w).
Definition waits_with (j : nat) : nat := length (filter (is_there j) waits).
(* What all of a kernel's blocks can weigh that run at once. *)
Definition at_once (j : nat) : nat := Nat.min one (Nat.min (grid j) (resident j) * weight j).

Lemma waits_of_a_stream s : sum (map waits_with (filter (fun j => stream_of j =? s) kernels)) <= length waits.
Proof.
  unfold waits_with. generalize waits as ws. induction ws as [|w ws IH]; simpl.
  - rewrite sum_none; [lia|]. reflexivity.
  - assert (E : forall l, sum (map (fun j => length (if is_there j w then w :: filter (is_there j) ws else
      filter (is_there j) ws)) l) =
      sum (map (fun j => if is_there j w then 1 else 0) l) + sum (map (fun j => length (filter (is_there j) ws)) l)).
    { induction l as [|j l IHl]; simpl; [reflexivity|]. rewrite IHl. destruct (is_there j w); simpl; lia. }
    rewrite E. enough (sum (map (fun j => if is_there j w then 1 else 0) (filter (fun j => stream_of j =? s) kernels))
      <= 1) by lia. clear E IH.
    assert (Only : forall j j', In j (filter (fun j => stream_of j =? s) kernels) ->
      In j' (filter (fun j => stream_of j =? s) kernels) -> is_there j w = true -> is_there j' w = true -> j = j').
    { intros j j' J J' T T'. apply filter_In in J, J'. destruct J as [_ J], J' as [_ J']. apply Nat.eqb_eq in J, J'.
      apply existsb_exists in T, T'. destruct T as (i & I & Ki), T' as (i' & I' & Ki'). apply Nat.eqb_eq in Ki, Ki'.
      apply filter_In in I, I'. destruct I as [I R], I' as [I' R']. rewrite <- Ki, <- Ki'.
      apply (one_kernel i i' (fst w) I I' R R'). congruence. }
    assert (D : NoDup (filter (fun j => stream_of j =? s) kernels)) by (apply NoDup_filter, kernels_apart).
    revert Only D. generalize (filter (fun j => stream_of j =? s) kernels) as l.
    induction l as [|j l IHl]; intros Only D; simpl; [lia|]. inversion D as [|? ? Out D']; subst.
    specialize (IHl (fun a b A B => Only a b (or_intror A) (or_intror B)) D').
    destruct (is_there j w) eqn:T; [|exact IHl]. rewrite sum_none; [lia|]. intros j' J'.
    destruct (is_there j' w) eqn:T'; [|reflexivity]. exfalso. apply Out.
    rewrite (Only j j' (or_introl eq_refl) (or_intror J') T T'). exact J'.
Qed.

(* At any price [p] for what a wait has: the waits take no longer than what others weigh in them, and [p] for each, and
   for each kernel so much as its blocks last beyond [p], once for each wait in which it is, but no more than all of its
   blocks together; and of each stream no wait has two kernels. *)
Theorem lower_blocks_in_waits : forall p,
  one * sum (map (fun w => snd w - fst w) waits) <=
  sum (map others_in waits) + length waits * p * one +
  sum (map (fun j => Nat.min (waits_with j * at_once j) (grid j * weight j) * (longest j - p)) kernels) /\
  forall s, sum (map waits_with (filter (fun j => stream_of j =? s) kernels)) <= length waits.
Proof.
  intros p. split; [|apply waits_of_a_stream].
  (* The parts of each wait. *)
  set (good := fun w (x : nat -> nat) => (forall i, x i <= weight (kernel i)) /\ sum (map x (there w)) <= one /\
    one * (snd w - fst w) <= others_in w + sum (map (fun i => x i * time_in w i) (there w))).
  assert (Parts : exists ps : list ((nat * nat) * (nat -> nat)), map fst ps = waits /\
    forall q, In q ps -> good (fst q) (snd q)).
  { assert (G : forall l t, one_after_another t l -> (forall w, In w l -> In w waits) ->
      exists ps : list ((nat * nat) * (nat -> nat)), map fst ps = l /\ forall q, In q ps -> good (fst q) (snd q)).
    { induction l as [|w l IH]; intros t O Sub; [exists []; split; [reflexivity|intros q []]|].
      destruct w as [a b]. destruct O as (_ & Le & O).
      destruct (IH b O (fun v J => Sub v (or_intror J))) as (ps & E & H).
      destruct (one_wait (a, b) (Sub _ (or_introl eq_refl)) Le) as (x & X).
      exists (((a, b), x) :: ps). simpl. split; [congruence|]. intros q [<-|J]; [exact X|apply H, J]. }
    apply (G waits 0 in_order (fun w J => J)). }
  destruct Parts as (ps & E & Good).
  assert (Ws : forall f : nat * nat -> nat, sum (map f waits) = sum (map (fun q => f (fst q)) ps)).
  { intros f. rewrite <- E, map_map. reflexivity. }
  assert (Len : length waits = length ps) by (rewrite <- E; apply map_length).
  set (part := fun (q : (nat * nat) * (nat -> nat)) i => snd q i * (time_in (fst q) i - p)).
  assert (Total : one * sum (map (fun w => snd w - fst w) waits) <= sum (map others_in waits) + length waits * p * one +
    sum (map (fun q => sum (map (part q) (there (fst q)))) ps)).
  { rewrite !Ws, Len. clear E Ws Len. induction ps as [|q qs IH]; [simpl; lia|].
    specialize (IH (fun r J => Good r (or_intror J))).
    destruct (Good q (or_introl eq_refl)) as (_ & X2 & X3).
    assert (Q : sum (map (fun i => snd q i * time_in (fst q) i) (there (fst q))) <=
      one * p + sum (map (part q) (there (fst q)))).
    { eapply Nat.le_trans; [apply (sum_le _ (fun i => snd q i * p + part q i))|].
      - intros i _. unfold part. rewrite <- Nat.mul_add_distr_l. apply Nat.mul_le_mono_l. lia.
      - rewrite sum_plus, sum_times. apply Nat.add_le_mono_r, Nat.mul_le_mono_r, X2. }
    simpl. rewrite Nat.mul_add_distr_l. simpl in IH. lia. }
  eapply Nat.le_trans; [exact Total|]. apply Nat.add_le_mono_l. clear Total.
  (* Kernel by kernel. *)
  eapply Nat.le_trans; [apply (sum_le _ (fun q => sum (map (fun j => sum (map (part q) (of_kernel j (there (fst q)))))
    kernels)))|].
  { intros q _. apply key_by_key. intros i I. apply filter_In in I. apply known, I. }
  rewrite sum_swap. apply sum_le. intros j Ij.
  rewrite <- Nat.mul_min_distr_r. apply Nat.min_glb.
  - (* in each wait it is there at most *)
    unfold waits_with. rewrite <- E. clear E Ws Len. induction ps as [|q qs IH]; [simpl; lia|].
    specialize (IH (fun r J => Good r (or_intror J))). destruct (Good q (or_introl eq_refl)) as (X1 & X2 & _).
    assert (Own : forall i, In i (of_kernel j (there (fst q))) -> kernel i = j /\ In i ids /\ runs i (fst (fst q)) = true).
    { intros i I. apply filter_In in I. destruct I as [I K]. apply Nat.eqb_eq in K. apply filter_In in I. tauto. }
    assert (One : sum (map (part q) (of_kernel j (there (fst q)))) <= at_once j * (longest j - p)).
    { eapply Nat.le_trans; [apply (sum_le _ (fun i => snd q i * (longest j - p)))|].
      - intros i I. destruct (Own i I) as (<- & Ii & R). unfold part, time_in. apply Nat.mul_le_mono_l.
        assert (S := short i Ii). unfold runs in R. rewrite andb_true_iff, Nat.leb_le in R. lia.
      - rewrite sum_times. apply Nat.mul_le_mono_r. unfold at_once. apply Nat.min_glb.
        + eapply Nat.le_trans; [|exact X2]. unfold of_kernel. clear.
          induction (there (fst q)) as [|i l IH]; simpl; [lia|].
          destruct (kernel i =? j); simpl; lia.
        + eapply Nat.le_trans; [apply (sum_le _ (fun _ => 1 * weight j))|].
          * intros i I. destruct (Own i I) as (<- & _). specialize (X1 i). lia.
          * rewrite sum_times. apply Nat.mul_le_mono_r.
            assert (C : forall l : list nat, sum (map (fun _ => 1) l) = length l) by (induction l; simpl; congruence).
            rewrite C. apply Nat.min_glb; [|apply few]. eapply Nat.le_trans; [|apply (in_grid j)].
            unfold of_kernel, there. clear. induction ids as [|i l IH]; simpl; [lia|].
            destruct (runs i (fst (fst q))); simpl; destruct (kernel i =? j); simpl; lia. }
    destruct (is_there j (fst q)) eqn:T; simpl; rewrite T; simpl.
    + simpl in IH. lia.
    + assert (None : of_kernel j (there (fst q)) = []).
      { destruct (of_kernel j (there (fst q))) as [|i l] eqn:F; [reflexivity|]. exfalso.
        assert (I : In i (of_kernel j (there (fst q)))) by (rewrite F; left; reflexivity). apply filter_In in I.
        assert (Z : is_there j (fst q) = true) by (apply existsb_exists; exists i; exact I). congruence. }
      rewrite None. simpl in IH |- *. exact IH.
  - (* all of its blocks together *)
    eapply Nat.le_trans; [apply (sum_le _ (fun q => sum (map (fun i => weight j *
      (if runs i (fst (fst q)) then time_in (fst q) i - p else 0)) (of_kernel j ids))))|].
    { intros q Iq. destruct (Good q Iq) as (X1 & _). unfold part, of_kernel, there. clear - X1.
      induction ids as [|i l IH]; simpl; [lia|].
      destruct (runs i (fst (fst q))) eqn:R; simpl; destruct (Nat.eqb_spec (kernel i) j) as [<-|]; simpl;
        rewrite ?R; try lia.
      specialize (X1 i). nia. }
    rewrite sum_swap.
    assert (C : forall l : list nat, sum (map (fun _ => weight j * (longest j - p)) l) =
      length l * (weight j * (longest j - p))) by (induction l; simpl; lia).
    eapply Nat.le_trans; [apply (sum_le _ (fun _ => weight j * (longest j - p)))|].
    { intros i I. apply filter_In in I. destruct I as [I K]. apply Nat.eqb_eq in K.
      assert (Z := in_any_waits i p waits I 0 in_order). rewrite K, Ws in Z.
      rewrite (map_ext _ (fun q => (if runs i (fst (fst q)) then time_in (fst q) i - p else 0) * weight j))
        by (intros q; lia).
      rewrite sum_times. nia. }
    rewrite C, Nat.mul_assoc. apply Nat.mul_le_mono_r, Nat.mul_le_mono_r, in_grid.
Qed.

(* The same with the most that any choice of kernels can come to: of each stream, from the largest on, what its kernels
   can add to a wait. *)
Theorem lower_blocks_by_stream : forall p streams (largest : nat -> list nat),
  (forall j, In j kernels -> In (stream_of j) streams) ->
  (forall s k x r, largest s = k ++ x :: r -> forall y, In y r -> y <= x) ->
  (forall s, Permutation (largest s) (flat_map (fun j => slots_of (at_once j) (grid j * weight j) (longest j - p))
    (filter (fun j => stream_of j =? s) kernels))) ->
  one * sum (map (fun w => snd w - fst w) waits) <=
  sum (map others_in waits) + length waits * p * one +
  sum (map (fun s => sum (firstn (length waits) (largest s))) streams).
Proof.
  intros p streams largest K S P. destruct (lower_blocks_in_waits p) as [B M].
  eapply Nat.le_trans; [exact B|]. apply Nat.add_le_mono_l.
  eapply Nat.le_trans; [apply (key_by_key stream_of _ streams), K|]. apply sum_le. intros s _.
  apply one_stream; [apply S|apply P|apply M].
Qed.
End Waits.
