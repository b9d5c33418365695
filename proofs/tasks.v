(* What the jobs of a task take of an interval at most, and so by when a job is done: the counting argument of
   docs/tasks.md, "Why the bounds are safe". *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists capacity.

(* A task: a job is released every [period] or later, and over within [response]. Of what is counted each job takes
   [work] units at most. *)
Record timing := Timing { period : nat; response : nat; work : nat }.
(* Jobs [0] to [n - 1] of it: when they are released, and at which instants they take a unit. *)
Record jobs := Jobs { count : nat; released : nat -> nat; takes : nat -> nat -> bool }.

Definition taken (j : jobs) (k a len : nat) : nat := length (filter (takes j k) (seq a len)).
Definition taken_by_all (j : jobs) (a len : nat) : nat := sum (map (fun k => taken j k a len) (seq 0 (count j))).
Record are_of (t : timing) (j : jobs) : Prop := {
  are_apart : forall k l, k < l -> l < count j -> released j k + period t <= released j l;
  are_inside : forall k u, takes j k u = true -> released j k <= u /\ u < released j k + response t;
  are_short : forall k a len, taken j k a len <= work t
}.

Lemma filter_few (p : nat -> bool) lo hi : (forall u, p u = true -> lo <= u /\ u < hi) ->
  forall len a, length (filter p (seq a len)) <= hi - a /\ length (filter p (seq a len)) <= a + len - lo.
Proof.
  intros H. induction len as [|len IH]; intros a; [simpl; lia|]. simpl seq. simpl filter.
  destruct (IH (S a)) as [A B]. destruct (p a) eqn:E; simpl; [|lia]. destruct (H a E). split; [lia|].
  enough (length (filter p (seq (S a) len)) <= len) by lia. rewrite <- (seq_length len (S a)) at 2.
  clear. induction (seq (S a) len) as [|x l IH]; simpl; [lia|]. destruct (p x); simpl; lia.
Qed.

Section Task.
Variables (t : timing) (j : jobs).
Hypothesis Of : are_of t j.
Hypothesis Positive : 0 < period t.
Hypothesis Short : work t <= response t /\ work t <= period t.

Lemma distance l : (forall a b k m r, l = k ++ a :: m ++ b :: r -> a < b) -> (forall k, In k l -> k < count j) ->
  forall x m y, l = x :: m ++ [y] -> released j x + (length m + 1) * period t <= released j y.
Proof.
  intros S In_l x m. revert l x S In_l. induction m as [|z m IH]; intros l x S In_l y ->.
  - simpl. assert (A := are_apart t j Of x y (S x y [] [] [] eq_refl) (In_l y (or_intror (or_introl eq_refl)))). lia.
  - assert (A := are_apart t j Of x z (S x z [] [] _ eq_refl) (In_l z (or_intror (or_introl eq_refl)))).
    assert (B := IH (z :: m ++ [y]) z (fun a b k n r E => S a b (x :: k) n r (f_equal (cons x) E))
      (fun k I => In_l k (or_intror I)) y eq_refl). simpl. lia.
Qed.

Definition some (a len : nat) : list nat := filter (fun k => 0 <? taken j k a len) (seq 0 (count j)).
Lemma of_some a len : taken_by_all j a len = sum (map (fun k => taken j k a len) (some a len)).
Proof.
  unfold taken_by_all, some. generalize (seq 0 (count j)). induction l as [|k l IH]; simpl; [reflexivity|].
  destruct (taken j k a len) eqn:Z; simpl; [exact IH|]. rewrite IH, Z. reflexivity.
Qed.
Lemma some_inside a len k : In k (some a len) -> k < count j /\ 0 < taken j k a len.
Proof. intros I. apply filter_In in I. destruct I as [I P]. apply in_seq in I. apply Nat.ltb_lt in P. lia. Qed.
Lemma some_sorted a len x y k m r : some a len = k ++ x :: m ++ y :: r -> x < y.
Proof.
  intros H. assert (G : forall n s l k m r, filter (fun k => 0 <? taken j k a len) l = k ++ x :: m ++ y :: r ->
    l = seq s n -> x < y).
  { clear. induction n as [|n IH]; intros s l k m r F ->; simpl in F; [destruct k; discriminate F|].
    destruct (0 <? taken j s a len); [|apply (IH (S s) _ k m r F eq_refl)].
    destruct k as [|z k]; simpl in F; injection F as F1 F.
    - subst. assert (I : In y (filter (fun k => 0 <? taken j k a len) (seq (S x) n)))
        by (rewrite F; apply in_elt). apply filter_In in I. destruct I as [I _]. apply in_seq in I. lia.
    - apply (IH (S s) _ k m r F eq_refl). }
  apply (G (count j) 0 _ k m r H eq_refl).
Qed.
Lemma each_inside a len k : taken j k a len <= released j k + response t - a /\ taken j k a len <= a + len - released j k.
Proof. apply (filter_few (takes j k) (released j k) (released j k + response t) (are_inside t j Of k)). Qed.
Lemma much a len l : sum (map (fun k => taken j k a len) l) <= length l * work t.
Proof. induction l as [|k l IH]; simpl; [lia|]. assert (Q := are_short t j Of k a len). lia. Qed.
Lemma ceil_enough n : n <= ceil n (period t) * period t.
Proof.
  unfold ceil. assert (D := Nat.div_mod (n + period t - 1) (period t) ltac:(lia)).
  assert (M := Nat.mod_upper_bound (n + period t - 1) (period t) ltac:(lia)). nia.
Qed.

(* All jobs take no more of an interval than as many as are released in it and in what is left of the response. *)
Theorem taken_in_an_interval a len :
  taken_by_all j a len <= ceil (len + response t - work t) (period t) * work t.
Proof.
  set (N := ceil (len + response t - work t) (period t)).
  assert (Enough : len + response t - work t <= N * period t) by apply ceil_enough.
  rewrite of_some. destruct (Nat.le_gt_cases (length (some a len)) N) as [Le|Gt].
  { eapply Nat.le_trans; [apply much|]. apply Nat.mul_le_mono_r, Le. }
  assert (Sorted := some_sorted a len). assert (Inside := some_inside a len).
  destruct (some a len) as [|x m]; [simpl in Gt; lia|]. destruct m as [|y m _] using rev_ind.
  - simpl in Gt. assert (N = 0) by lia. destruct (Inside x (or_introl eq_refl)) as [_ P].
    assert (taken j x a len <= len); [|lia]. unfold taken. rewrite <- (seq_length len a) at 2. clear.
    induction (seq a len) as [|u l IH]; simpl; [lia|]. destruct (takes j x u); simpl; lia.
  - assert (D := distance (x :: m ++ [y]) Sorted (fun k I => proj1 (Inside k I)) x m y eq_refl).
    destruct (each_inside a len x) as [Qx _], (each_inside a len y) as [_ Qy].
    destruct (Inside x (or_introl eq_refl)) as [_ Px].
    destruct (Inside y ltac:(right; apply in_app_iff; right; left; reflexivity)) as [_ Py].
    simpl in Gt. rewrite app_length in Gt. simpl in Gt. simpl. rewrite map_app, sum_app. simpl.
    assert (Len : length m + 1 = N).
    { assert (length m + 1 < N + 1); [|lia]. apply (Nat.mul_lt_mono_pos_r (period t)); lia. }
    assert (M := much a len m). rewrite Len in D. assert (Both : taken j x a len + taken j y a len <= work t) by lia.
    assert (length m * work t + work t = N * work t) by (rewrite <- Len; lia). lia.
Qed.

(* And where none is pending when it begins, than as many as are released in it. *)
Theorem taken_from_a_start a len :
  (forall k, k < count j -> 0 < taken j k a len -> a <= released j k) ->
  taken_by_all j a len <= ceil len (period t) * work t.
Proof.
  intros Later. rewrite of_some. eapply Nat.le_trans; [apply much|]. apply Nat.mul_le_mono_r.
  assert (Enough := ceil_enough len). assert (Sorted := some_sorted a len). assert (Inside := some_inside a len).
  destruct (some a len) as [|x m]; [simpl; lia|]. destruct (Inside x (or_introl eq_refl)) as [Cx Px].
  specialize (Later x Cx Px). destruct (each_inside a len x) as [_ Qx].
  destruct m as [|y m _] using rev_ind.
  - simpl. destruct (ceil len (period t)); lia.
  - assert (D := distance (x :: m ++ [y]) Sorted (fun k I => proj1 (Inside k I)) x m y eq_refl).
    destruct (each_inside a len y) as [_ Qy].
    destruct (Inside y ltac:(right; apply in_app_iff; right; left; reflexivity)) as [_ Py].
    simpl. rewrite app_length. simpl.
    assert (length m + 1 < ceil len (period t)); [|lia]. apply (Nat.mul_lt_mono_pos_r (period t)); lia.
Qed.
End Task.

(* A more urgent task: what it takes while a job is looked at; and whether none of its jobs is pending where that begins. *)
Record other := Other { timing_of : timing; jobs_of : jobs; starts_anew : bool }.
Definition most (h : other) (len : nat) : nat :=
  let t := timing_of h in
  ceil (len + if starts_anew h then 0 else response t - work t) (period t) * work t.

(* A job that after [u] units of time is not done only if they are fewer than what it and others take in them, is done
   after [bound] units if these are enough. *)
Theorem done_within : forall own others from (unfinished : nat -> Prop) bound,
  (forall h, In h others -> are_of (timing_of h) (jobs_of h) /\ 0 < period (timing_of h) /\
    work (timing_of h) <= response (timing_of h) /\ work (timing_of h) <= period (timing_of h) /\
    (starts_anew h = true -> forall k len, k < count (jobs_of h) -> 0 < taken (jobs_of h) k from len ->
      from <= released (jobs_of h) k)) ->
  (forall u, unfinished u -> u < own + sum (map (fun h => taken_by_all (jobs_of h) from u) others)) ->
  own + sum (map (fun h => most h bound) others) <= bound -> ~ unfinished bound.
Proof.
  intros own others from unfinished bound Ok Waits Enough U. specialize (Waits bound U).
  assert (L : sum (map (fun h => taken_by_all (jobs_of h) from bound) others) <=
    sum (map (fun h => most h bound) others)); [|lia].
  clear - Ok. induction others as [|h l IH]; simpl; [lia|]. specialize (IH (fun x I => Ok x (or_intror I))).
  destruct (Ok h (or_introl eq_refl)) as (A & B & C & D & E).
  assert (Z : taken_by_all (jobs_of h) from bound <= most h bound); [|lia]. unfold most. destruct (starts_anew h).
  - rewrite Nat.add_0_r. apply (taken_from_a_start _ _ A B (conj C D)). intros k Lk Pk. apply (E eq_refl k bound Lk Pk).
  - rewrite Nat.add_sub_assoc by exact C. apply (taken_in_an_interval _ _ A B (conj C D)).
Qed.
