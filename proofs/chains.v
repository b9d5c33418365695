(* Chains of jobs that hand data on: how long it takes from an event to the first output that knows of it, and how old
   the data is that an output is made of. Jobs of each thread arrive exactly a period apart, and have written within a
   bound of that. A checker of bounds on chains, and that what certificates say of jobs bounds when they have written. *)
From Coq Require Import List Arith Bool Lia Permutation.
Import ListNotations.
From gpusched Require Import model lists usage busy closed choices certificate shared arrivals hosts phased.

(* The jobs of one thread on the way: when the first arrives, how far they are apart, and by how long after its arrival
   each has written. [goes_on]: what reads is the job itself that has written for the link before. *)
Record link := Link { link_first : nat; link_period : nat; link_bound : nat; goes_on : bool }.
(* When each job of a link reads, and when it has written. *)
Record times := Times { reads : nat -> nat; writes : nat -> nat }.
Definition comes_at (l : link) (k : nat) : nat := link_first l + k * link_period l.
Definition due (l : link) (k : nat) : nat := comes_at l k + link_bound l.

(* The first job that reads at an instant or later, and the last that has written by one. *)
Definition first_from (x : times) (t k : nat) : Prop := t <= reads x k /\ forall m, t <= reads x m -> k <= m.
Definition last_by (x : times) (t k : nat) : Prop := writes x k <= t /\ forall m, writes x m <= t -> m <= k.
(* At [e] comes the first output that knows what job [k] of the first link has read: of each link the first job that
   reads once the one before it has written. *)
Fixpoint first_output (x : times) (k : nat) (rest : list times) (e : nat) : Prop :=
  match rest with
  | [] => e = writes x k
  | y :: rest => exists m, first_from y (writes x k) m /\ first_output y m rest e
  end.
(* What job [m] of the last link writes is made of what job [k] of the first one has read: each link reads what has been
   written last. *)
Fixpoint made_of (x : times) (k : nat) (rest : list times) (m : nat) : Prop :=
  match rest with
  | [] => m = k
  | y :: rest => exists n, last_by x (reads y n) k /\ made_of y n rest m
  end.

(* Jobs do what is said of their links. *)
Definition timed (l : link) (x : times) : Prop := forall k, comes_at l k <= reads x k /\ writes x k <= due l k.
Definition same_jobs (l m : link) : Prop :=
  link_first l = link_first m /\ link_period l = link_period m /\ link_bound l = link_bound m.
Fixpoint all_timed (l : link) (x : times) (rest : list (link * times)) : Prop :=
  timed l x /\
  match rest with
  | [] => True
  | (m, y) :: rest =>
      (goes_on m = true -> same_jobs l m /\ forall k, writes x k <= reads y k) /\ all_timed m y rest
  end.
(* Threads are first released within a period. *)
Definition in_phase (l : link) : Prop := link_first l < link_period l.

(* The first job that comes at an instant or later, and by when the last link has written, if job [k] of the first one
   is the one that knows. *)
Definition next (l : link) (t : nat) : nat := (t + link_period l - 1 - link_first l) / link_period l.
Fixpoint by_when (l : link) (k : nat) (rest : list link) : nat :=
  match rest with
  | [] => due l k
  | m :: rest => by_when m (if goes_on m then k else next m (due l k)) rest
  end.
Fixpoint final (l : link) (rest : list link) : link := match rest with [] => l | m :: rest => final m rest end.
Fixpoint final_times (x : times) (rest : list times) : times :=
  match rest with [] => x | y :: rest => final_times y rest end.

Lemma next_is_late l t : in_phase l -> t <= comes_at l (next l t).
Proof.
  unfold in_phase, comes_at, next. intros P. set (a := t + link_period l - 1 - link_first l).
  assert (D := Nat.div_mod a (link_period l) ltac:(lia)). assert (M := Nat.mod_upper_bound a (link_period l) ltac:(lia)).
  subst a. lia.
Qed.
Lemma next_is_soon l t : in_phase l -> comes_at l (next l t) < t + link_period l.
Proof.
  unfold in_phase, comes_at, next. intros P. set (a := t + link_period l - 1 - link_first l).
  assert (D := Nat.div_mod a (link_period l) ltac:(lia)). subst a. lia.
Qed.
Lemma before_next l t k : in_phase l -> comes_at l k < t -> k < next l t.
Proof.
  unfold in_phase, comes_at, next. intros P L. apply Nat.div_le_lower_bound; [lia|].
  rewrite Nat.mul_succ_r, (Nat.mul_comm (link_period l)). lia.
Qed.
Lemma due_grows l k K : k <= K -> due l k <= due l K.
Proof. intros L. unfold due, comes_at. assert (Z := Nat.mul_le_mono_r _ _ (link_period l) L). lia. Qed.
Lemma due_same l m k : same_jobs l m -> due l k = due m k.
Proof. unfold due, comes_at. intros (-> & -> & ->). reflexivity. Qed.
Lemma least (p : nat -> bool) n : p n = true -> exists k, p k = true /\ forall m, p m = true -> k <= m.
Proof.
  induction n as [n IH] using lt_wf_ind. intros H. destruct (existsb p (seq 0 n)) eqn:E.
  - apply existsb_exists in E. destruct E as (m & I & M). apply in_seq in I. apply (IH m); [lia|exact M].
  - exists n. split; [exact H|]. intros m M. apply Nat.nlt_ge. intros L. apply Bool.not_true_iff_false in E. apply E.
    apply existsb_exists. exists m. split; [apply in_seq; lia|exact M].
Qed.
Lemma comes_first x t n : t <= reads x n -> exists k, first_from x t k /\ k <= n.
Proof.
  intros L. destruct (least (fun m => t <=? reads x m) n (proj2 (Nat.leb_le _ _) L)) as (k & K & Least).
  apply Nat.leb_le in K. exists k. split; [split; [exact K|]|]; [intros m M|]; apply Least, Nat.leb_le; assumption.
Qed.
Lemma one_output rest : forall x k d e, first_output x k rest d -> first_output x k rest e -> d = e.
Proof.
  induction rest as [|y rest IH]; intros x k d e D E; simpl in *; [congruence|].
  destruct D as (m & [Rm Lm] & D), E as (n & [Rn Ln] & E). specialize (Lm n Rn). specialize (Ln m Rm).
  replace n with m in * by lia. apply (IH y m d e D E).
Qed.

(* An output that knows comes, and by then. *)
Lemma output_comes rest : forall l x k K, all_timed l x rest -> Forall in_phase (map fst rest) -> k <= K ->
  exists e, first_output x k (map snd rest) e /\ e <= by_when l K (map fst rest).
Proof.
  induction rest as [|[m y] rest IH]; intros l x k K [T R] P L; simpl.
  - exists (writes x k). split; [reflexivity|]. destruct (T k) as [_ W]. assert (G := due_grows l k K L). lia.
  - destruct R as [On R]. simpl in P. inversion P as [|? ? Pm P']; subst. destruct (T k) as [_ W].
    assert (G := due_grows l k K L). assert (Ty : timed m y) by (destruct rest as [|[]]; apply R).
    assert (Q : exists n, first_from y (writes x k) n /\ n <= if goes_on m then K else next m (due l K)).
    { destruct (goes_on m) eqn:E.
      - destruct (On eq_refl) as [_ Rd]. destruct (comes_first y _ k (Rd k)) as (n & F & Le). exists n. split; [exact F|lia].
      - apply comes_first. assert (A := next_is_late m (due l K) Pm). destruct (Ty (next m (due l K))) as [B _]. lia. }
    destruct Q as (n & F & Le). destruct (IH m y n _ R P' Le) as (e & O & B). exists e. split; [|exact B].
    exists n. split; assumption.
Qed.
(* What an output is made of is older than what the first output knows that knows more. *)
Lemma older_than_the_next rest : forall l x k K m, all_timed l x rest -> Forall in_phase (map fst rest) -> k < K ->
  made_of x k (map snd rest) m ->
  writes (final_times x (map snd rest)) m + link_period (final l (map fst rest)) <= by_when l K (map fst rest).
Proof.
  induction rest as [|[b y] rest IH]; intros l x k K m [T R] P L M; simpl in *.
  - subst m. destruct (T k) as [_ W]. unfold due, comes_at in *.
    assert (Z := Nat.mul_le_mono_r (S k) K (link_period l) L). simpl in Z. lia.
  - destruct R as [On R]. inversion P as [|? ? Pb P']; subst. destruct M as (n & [Wk Last] & M).
    apply (IH b y n _ m R P'); [|exact M]. assert (Ty : timed b y) by (destruct rest as [|[]]; apply R).
    destruct (goes_on b) eqn:E.
    + destruct (On eq_refl) as [_ Rd]. specialize (Last n (Rd n)). lia.
    + apply (before_next b _ n Pb). destruct (Ty n) as [Rn _]. apply Nat.nle_gt. intros Le.
      assert (G := due_grows l (S k) K L). destruct (T (S k)) as [_ W].
      assert (Z := Last (S k) ltac:(lia)). lia.
Qed.

(* Checkers. A bound on how old data is counts from when the output is there, so that it is a period of the last link
   less than one on how long an event waits for an output. *)
Definition spare (is_age : bool) (l : link) (rest : list link) : nat :=
  if is_age then link_period (final l rest) else 0.
Definition same_jobsb (l m : link) : bool :=
  (link_first l =? link_first m) && (link_period l =? link_period m) && (link_bound l =? link_bound m).
Fixpoint are_links (l : link) (rest : list link) : bool :=
  (link_first l <? link_period l) &&
  match rest with [] => true | m :: rest => (negb (goes_on m) || same_jobsb l m) && are_links m rest end.
(* Whatever the phases: the sum of bounds and of the periods that each link waits for. *)
Fixpoint longest (l : link) (rest : list link) : nat :=
  match rest with
  | [] => link_bound l
  | m :: rest => if goes_on m then longest m rest else link_bound l + link_period m + longest m rest
  end.
Definition any_phase (l : link) : link := Link 0 (link_period l) (link_bound l) (goes_on l).
Definition accept_chain (l : link) (rest : list link) (is_age : bool) (bound : nat) : bool :=
  are_links l rest && (link_period l + longest l rest <=? bound + spare is_age l rest).
(* With the phases that there are: [n] periods of the first link are some of each. *)
Definition accept_chain_in_phase (n : nat) (l : link) (rest : list link) (is_age : bool) (bound : nat) : bool :=
  are_links l rest && (0 <? n) && forallb (fun m => (n * link_period l) mod link_period m =? 0) rest
  && forallb (fun k => by_when l (S k) rest <=? comes_at l k + (bound + spare is_age l rest)) (seq 0 n).

Lemma links_in_phase rest : forall l, are_links l rest = true -> in_phase l /\ Forall in_phase rest.
Proof.
  induction rest as [|m rest IH]; intros l H; simpl in H; rewrite !andb_true_iff, Nat.ltb_lt in H.
  - split; [apply H|constructor].
  - destruct H as [L [_ H]]. destruct (IH m H) as [Pm Pr]. split; [exact L|constructor; assumption].
Qed.
Lemma longest_is_long rest : forall l k, are_links l rest = true -> by_when l k rest <= comes_at l k + longest l rest.
Proof.
  induction rest as [|m rest IH]; intros l k H; simpl in *; [unfold due; lia|].
  rewrite !andb_true_iff in H. destruct H as [_ [Same H]]. destruct (links_in_phase rest m H) as [Pm _].
  eapply Nat.le_trans; [apply (IH m _ H)|]. destruct (goes_on m).
  - simpl in Same. unfold same_jobsb in Same. rewrite !andb_true_iff, !Nat.eqb_eq in Same.
    destruct Same as [[F P] _]. unfold comes_at. rewrite F, P. apply le_n.
  - assert (S := next_is_soon m (due l k) Pm). unfold due in S. unfold due. lia.
Qed.
Lemma longest_any rest : forall l, longest (any_phase l) (map any_phase rest) = longest l rest.
Proof.
  induction rest as [|m rest IH]; intros l; [reflexivity|]. simpl. rewrite (IH m). reflexivity.
Qed.
Lemma final_any rest : forall l, link_period (final (any_phase l) (map any_phase rest)) = link_period (final l rest).
Proof. induction rest as [|m rest IH]; intros l; [reflexivity|apply (IH m)]. Qed.
Lemma same_again rest : forall l k c H, are_links l rest = true -> c * link_period l = H ->
  (forall m, In m rest -> H mod link_period m = 0) -> by_when l (k + c) rest = by_when l k rest + H.
Proof.
  induction rest as [|m rest IH]; intros l k c H A E D; simpl in *.
  - unfold due, comes_at. subst H. rewrite Nat.mul_add_distr_r. lia.
  - rewrite !andb_true_iff in A. destruct A as [_ [Same A]]. destruct (links_in_phase rest m A) as [Pm _].
    unfold in_phase in Pm. destruct (goes_on m).
    + simpl in Same. unfold same_jobsb in Same. rewrite !andb_true_iff, !Nat.eqb_eq in Same.
      apply (IH m k c H A); [destruct Same as [[_ <-] _]; exact E|]. intros b I. apply D. right. exact I.
    + assert (Dm := D m (or_introl eq_refl)). apply Nat.mod_divide in Dm; [|lia]. destruct Dm as [d Ed].
      assert (N : next m (due l (k + c)) = next m (due l k) + d).
      { unfold next. rewrite <- Nat.div_add by lia. f_equal. unfold due, comes_at.
        rewrite Nat.mul_add_distr_r, E. lia. }
      rewrite N. apply (IH m _ d H A); [lia|]. intros b I. apply D. right. exact I.
Qed.
Lemma in_phase_always n l rest is_age bound : accept_chain_in_phase n l rest is_age bound = true ->
  are_links l rest = true /\ forall k, by_when l (S k) rest <= comes_at l k + (bound + spare is_age l rest).
Proof.
  unfold accept_chain_in_phase. rewrite !andb_true_iff, !forallb_forall, Nat.ltb_lt. intros [[[A Pos] D] Ck].
  split; [exact A|]. intros k. assert (M := Nat.mod_upper_bound k n ltac:(lia)).
  assert (Base := Ck (k mod n) ltac:(apply in_seq; lia)). apply Nat.leb_le in Base.
  rewrite (Nat.div_mod k n) by lia. generalize dependent (k mod n). intros r _ Base. generalize (k / n). intros q.
  assert (Again := same_again rest l (S r) (n * q) (n * q * link_period l) A eq_refl).
  replace (S (n * q + r)) with (S r + n * q) by lia. rewrite Again.
  - unfold comes_at in *. rewrite Nat.mul_add_distr_r. lia.
  - intros m I. specialize (D m I). apply Nat.eqb_eq in D. destruct (links_in_phase rest l A) as [_ P].
    rewrite Forall_forall in P. specialize (P m I). unfold in_phase in P.
    replace (n * q * link_period l) with (n * link_period l * q) by lia.
    rewrite Nat.mul_mod, D, Nat.mul_0_l by lia. apply Nat.mod_0_l. lia.
Qed.

(* In every such run: an event just after job [k] of the first link has read has an output, and the first one that knows
   of it comes within the bound; and data is no older when an output is written. *)
Definition bounded (x : times) (rest : list times) (is_age : bool) (bound : nat) : Prop :=
  if is_age then forall k m, made_of x k rest m -> writes (final_times x rest) m <= reads x k + bound
  else forall k, exists e, first_output x (S k) rest e /\ e <= reads x k + bound.
Lemma bounded_if l x rest is_age bound : all_timed l x rest -> Forall in_phase (map fst rest) ->
  (forall k, by_when l (S k) (map fst rest) <= comes_at l k + (bound + spare is_age l (map fst rest))) ->
  bounded x (map snd rest) is_age bound.
Proof.
  intros T P B. assert (Tx : timed l x) by (destruct rest as [|[]]; apply T). unfold bounded, spare in *.
  destruct is_age; [intros k m M|intros k]; specialize (B k); destruct (Tx k) as [Rk _].
  - assert (O := older_than_the_next rest l x k (S k) m T P (le_n _) M). lia.
  - destruct (output_comes rest l x (S k) (S k) T P (le_n _)) as (e & O & Le). exists e. split; [exact O|lia].
Qed.

Theorem accepted_chains_hold : forall l rest is_age bound,
  accept_chain (any_phase l) (map any_phase (map fst rest)) is_age bound = true ->
  forall x, all_timed l x rest -> in_phase l -> Forall in_phase (map fst rest) ->
  bounded x (map snd rest) is_age bound.
Proof.
  intros l rest is_age bound H x T Pl P. unfold accept_chain, spare in H. rewrite longest_any, final_any in H.
  rewrite andb_true_iff, Nat.leb_le in H. destruct H as [_ H]. apply (bounded_if l x rest is_age bound T P).
  intros k. assert (A : are_links l (map fst rest) = true).
  { clear - T Pl P. revert l x T Pl P. induction rest as [|[m y] rest IH]; intros l x [_ T] Pl P; simpl in *;
      rewrite (proj2 (Nat.ltb_lt _ _) Pl); [reflexivity|]. inversion P; subst. destruct T as [On T]. simpl.
    rewrite (IH m y T) by assumption. rewrite andb_true_r. destruct (goes_on m); [|reflexivity]. simpl.
    unfold same_jobsb. destruct (On eq_refl) as [(-> & -> & ->) _]. rewrite !Nat.eqb_refl. reflexivity. }
  change (link_period (any_phase l)) with (link_period l) in H.
  eapply Nat.le_trans; [apply (longest_is_long _ l (S k) A)|]. unfold spare, comes_at. simpl. lia.
Qed.
Theorem accepted_chains_in_phase_hold : forall n l rest is_age bound,
  accept_chain_in_phase n l (map fst rest) is_age bound = true ->
  forall x, all_timed l x rest -> bounded x (map snd rest) is_age bound.
Proof.
  intros n l rest is_age bound H x T. destruct (in_phase_always _ _ _ _ _ H) as [A B].
  apply (bounded_if l x rest is_age bound T); [apply (links_in_phase _ l A)|exact B].
Qed.

(* When something is over: ever after, and not sooner. *)
Definition is_end (over : nat -> Prop) (t : nat) : Prop :=
  (forall u, t < u -> over u) /\ forall v, (forall u, v < u -> over u) -> t <= v.
(* By what certificates say of jobs of streams and of hosts, each has written by then. *)
Theorem jobs_of_streams_have_written : forall g tasks claims, over_as_claimed g tasks claims ->
  forall all, arrive_so tasks all ->
  forall xs rest, Permutation (map item_of (launches xs) ++ rest) (flat_map (launched_by tasks) all) ->
  forall n bound k a t, In (n, bound) claims -> nth_error tasks n = Some k -> In a all -> task_of a = n ->
  is_end (fun u => forall ys zs s, xs = ys ++ zs -> steps g (empty g) ys s -> now s = u ->
    everywhere (fun o => ~ (stream o = task_stream k /\ launched_at o = released a)) s) t ->
  t <= arrives a + bound.
Proof.
  intros g tasks claims H all So xs rest Perm n bound k a t Ic Ek Ia Na [_ E]. apply E. intros u L ys zs s -> St <-.
  apply (H n bound k Ic Ek all So ys s (map item_of (launches zs) ++ rest) St) with (a := a); try assumption.
  rewrite launches_app, map_app, <- app_assoc in Perm. exact Perm.
Qed.
Theorem jobs_of_hosts_have_written : forall g top tasks scale weights responses claims,
  accept_phased g top tasks scale weights responses claims = true ->
  forall jobs, (forall h, h < length tasks -> come_so tasks jobs h) ->
  forall who xs h bound k a t, In (h, bound) claims -> nth_error (jobs h) k = Some a ->
  is_end (fun u => forall ys zs st, xs = ys ++ zs -> exec g (phased.program tasks jobs) who ys st -> clock ys = u ->
    (k + 1) * size tasks h <= done st h /\
    forall o, left_at g ys o -> by_host who o = h -> by_call who o / size tasks h <> k) t ->
  t <= arrives (fst a) + bound.
Proof.
  intros g top tasks scale weights responses claims H jobs So who xs h bound k a t Ic Ek [_ E]. apply E.
  intros u L ys zs st -> Ex <-.
  apply (accepted_phased_hold g top tasks scale weights responses claims H jobs So who ys st Ex h bound k a Ic Ek L).
Qed.

(* A host that only sleeps and works has done so once its pauses have passed, if the next job does not arrive before. *)
Definition goes_by (t : nat) (c : call) : nat :=
  match c with Timer r => Nat.max t r | Pause e => t + e | _ => t end.
Definition in_job (a : arrival * list nat) : list call := Timer (released (fst a)) :: map Pause (snd a).
Definition accept_pauses (apart late : nat) (pauses : list nat) (bound : nat) : bool :=
  (late + sum pauses <=? apart) && (late + sum pauses <=? bound).

Section Pausing.
Variables (g : device) (program : nat -> list call) (who : nat -> nat * nat) (h : nat).
Hypothesis Pauses : forall c, In c (program h) -> match c with Timer _ | Pause _ => True | _ => False end.
Local Notation by_then n := (fold_left goes_by (firstn n (program h)) 0).

Lemma next_call n c : nth_error (program h) n = Some c -> by_then (S n) = goes_by (by_then n) c.
Proof.
  intros E. enough (F : firstn (S n) (program h) = firstn n (program h) ++ [c]).
  { rewrite F, fold_left_app. reflexivity. }
  clear Pauses. revert n E. induction (program h) as [|d l IH]; intros n E; [destruct n; discriminate E|].
  destruct n as [|n]; simpl in E; [injection E as ->; reflexivity|]. rewrite !firstn_cons, (IH n E). reflexivity.
Qed.
Lemma pauses_in_time xs st : exec g program who xs st -> clock (since st h) <= by_then (done st h) /\
  (done st h < length (program h) -> clock xs <= by_then (S (done st h))).
Proof.
  assert (Grow : forall n, n < length (program h) -> by_then n <= by_then (S n)).
  { intros n L. destruct (nth_error (program h) n) as [c|] eqn:E; [|apply nth_error_None in E; lia].
    rewrite (next_call n c E). destruct c; simpl; lia. }
  assert (Step : forall xs ys st k, (k <> h \/ done st h < length (program h)) -> clock ys = clock xs ->
    clock (since st h) <= by_then (done st h) /\ (done st h < length (program h) -> clock xs <= by_then (S (done st h))) ->
    clock (since (goes k ys st) h) <= by_then (done (goes k ys st) h) /\
    (done (goes k ys st) h < length (program h) -> clock ys <= by_then (S (done (goes k ys st) h)))).
  { intros xs' ys st' k D Cl [A B]. rewrite Cl. destruct (Nat.eq_dec h k) as [->|N].
    - rewrite (proj1 (same k ys st')), (proj2 (same k ys st')), Cl. destruct D as [D|D]; [destruct (D eq_refl)|].
      specialize (B D). split; [exact B|]. intros L. specialize (Grow _ L). lia.
    - unfold done, since in *. rewrite (other k ys st' h N). tauto. }
  induction 1 as [|xs st x s E [A B] H N Ho|xs st k o e s E IH Dk W H|xs st k c E IH Dk N Ho].
  - split; [apply Nat.le_0_l|intros _; apply Nat.le_0_l].
  - split; [exact A|]. intros L. rewrite clock_last. destruct x; try apply (B L).
    destruct (nth_error (program h) (done st h)) as [c|] eqn:D; [|apply nth_error_None in D; lia].
    assert (Z := Ho t h c eq_refl D). rewrite (next_call _ c D).
    specialize (Pauses c (nth_error_In _ _ D)). destruct c; simpl in *; try tauto; lia.
  - apply (Step xs); [left|apply clock_last|exact IH]. intros ->.
    destruct (Pauses _ (nth_error_In _ _ Dk)).
  - apply (Step xs xs); [|reflexivity|exact IH]. destruct (Nat.eq_dec k h) as [->|Nk]; [right|left; exact Nk].
    apply nth_error_Some. unfold does in Dk. congruence.
Qed.

Lemma jobs_in_time apart late pause jobs : late + pause <= apart ->
  ForallOrdPairs (fun a b => arrives a + apart <= arrives b) (map fst jobs) ->
  (forall a, In a jobs -> arrives (fst a) <= released (fst a) /\ released (fst a) <= arrives (fst a) + late /\
    sum (snd a) <= pause) ->
  forall k a t, nth_error jobs k = Some a -> match jobs with b :: _ => t <= arrives (fst b) + late | [] => True end ->
  fold_left goes_by (flat_map in_job (firstn (S k) jobs)) t <= arrives (fst a) + late + pause.
Proof.
  intros Fits. induction jobs as [|b jobs IH]; intros P R k a t E L; [destruct k; discriminate E|].
  assert (Sum : forall l t, fold_left goes_by (map Pause l) t = t + sum l).
  { induction l as [|e l IHl]; intros u; simpl; [lia|]. rewrite IHl. lia. }
  rewrite firstn_cons. simpl. rewrite fold_left_app, Sum. destruct (R b (or_introl eq_refl)) as (A & B & C).
  inversion P as [|? ? F P']; subst. destruct k as [|k]; simpl in E.
  - injection E as ->. simpl. lia.
  - apply (IH P' (fun c I => R c (or_intror I)) k a _ E). destruct jobs as [|c jobs]; [exact Logic.I|].
    inversion F; subst. lia.
Qed.
End Pausing.

Theorem jobs_that_pause_have_written : forall apart late pauses bound, accept_pauses apart late pauses bound = true ->
  forall g program who h jobs, program h = flat_map in_job jobs ->
  ForallOrdPairs (fun a b => arrives a + apart <= arrives b) (map fst jobs) ->
  (forall a, In a jobs -> arrives (fst a) <= released (fst a) /\ released (fst a) <= arrives (fst a) + late /\
    Forall2 le (snd a) pauses) ->
  forall xs k a t, nth_error jobs k = Some a ->
  is_end (fun u => forall ys zs st, xs = ys ++ zs -> exec g program who ys st -> clock ys = u ->
    length (flat_map in_job (firstn (S k) jobs)) <= done st h) t ->
  t <= arrives (fst a) + bound.
Proof.
  intros apart late pauses bound H g program who h jobs Ep P R xs k a t Ek [_ E]. apply E.
  unfold accept_pauses in H. rewrite andb_true_iff, !Nat.leb_le in H. intros u L ys zs st _ Ex <-.
  assert (Only : forall c, In c (program h) -> match c with Timer _ | Pause _ => True | _ => False end).
  { intros c I. rewrite Ep in I. apply in_flat_map in I. destruct I as (b & _ & [<-|I]); [exact Logic.I|].
    apply in_map_iff in I. destruct I as (e & <- & _). exact Logic.I. }
  apply Nat.nlt_ge. intros Lt. destruct (pauses_in_time g program who h Only ys st Ex) as [_ Z].
  assert (Split : program h = flat_map in_job (firstn (S k) jobs) ++ flat_map in_job (skipn (S k) jobs)).
  { rewrite Ep, <- flat_map_app, firstn_skipn. reflexivity. }
  specialize (Z ltac:(rewrite Split, app_length; lia)).
  assert (J := jobs_in_time apart late (sum pauses) jobs ltac:(lia) P).
  specialize (J ltac:(intros b I; destruct (R b I) as (A & B & F); repeat split; [exact A|exact B|];
    clear - F; induction F; simpl; lia) k a 0 Ek ltac:(destruct jobs; [exact Logic.I|lia])).
  assert (Mono : forall l t, t <= fold_left goes_by l t).
  { induction l as [|c l IHl]; intros v; simpl; [lia|]. specialize (IHl (goes_by v c)). destruct c; simpl in *; lia. }
  enough (fold_left goes_by (firstn (S (done st h)) (program h)) 0 <=
    fold_left goes_by (flat_map in_job (firstn (S k) jobs)) 0) by lia.
  rewrite Split, firstn_app. replace (S (done st h) - length (flat_map in_job (firstn (S k) jobs))) with 0 by lia.
  rewrite firstn_O, app_nil_r. set (l := flat_map in_job (firstn (S k) jobs)).
  rewrite <- (firstn_skipn (S (done st h)) l) at 2. rewrite fold_left_app. apply Mono.
Qed.
