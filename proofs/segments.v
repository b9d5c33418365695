(* The one theory of who waits for whom: a job is a graph of segments, the calls of its hosts and the operations that
   they launch, and is over when its last segment is. Whatever is known of when a call ends that waits for certain
   operations, is known of all calls along paths. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists busy shared paths others programs hosts.

Section Segments.
Variables (g : device) (program : nat -> list call) (who : nat -> nat * nat).
Local Notation exec := (exec g program who).
Local Notation edge := (edge g program who).
Local Notation does := (does program).
Local Notation holds := (holds g program who).
Local Notation awaited := (awaited program who).
Local Notation by_host := (by_host who).
Local Notation by_call := (by_call who).
Local Notation exec_told := (exec_told g program who).
Local Notation exec_steps := (exec_steps g program who).
Local Notation clock_grows := (clock_grows g).
Local Notation now_is_clock := (now_is_clock g).
(* Calls, and the operations that they launch, are of jobs, each with its release and by when it has to be over. Bounds
   are for some calls: [counted]. *)
Variables (counted : nat -> nat -> bool) (job : nat -> nat -> nat) (release due : nat -> nat).
(* The longest paths from the release of its job to the end of each call: a pause counts [one] for each ns. *)
Variables (one : nat) (path : nat -> nat -> nat).
Definition pause (h i : nat) : nat := match nth_error (program h) i with Some (Pause e) => e | _ => 0 end.
Definition pauses (h i : nat) : nat := one * pause h i.
Hypothesis Own : forall h i, counted h i = true -> pauses h i <= path h i.
Hypothesis Path : forall k j h i, edge (Does k j) (Does h i) -> counted h i = true -> job k j = job h i ->
  path k j + pauses h i <= path h i.
Hypothesis Timers : forall h i r, counted h i = true -> does h i (Timer r) -> one * (r - release (job h i)) <= path h i.
(* No host waits for another in a circle. *)
Variable rank : nat -> nat -> nat.
Hypothesis Acyclic : forall k j h i, edge (Does k j) (Does h i) -> counted h i = true -> rank k j < rank h i.
(* A job is released by a timer, or when its host comes to it; what a host waits for is of its job, or of one that has
   to be over when this is released. *)
Definition comes (h i : nat) : Prop :=
  forall xs st, exec xs st -> done st h = i -> release (job h i) = clock (since st h).
Definition first (h i : nat) : Prop := i = 0 \/ exists j, i = S j /\ job h j <> job h i.
Hypothesis Closed : forall k j h i, edge (Does k j) (Does h i) -> counted h i = true ->
  counted k j = true \/ (k = h /\ i = S j) /\ comes h i.
Hypothesis Starts : forall h i c, counted h i = true -> does h i c -> first h i ->
  (exists r, c = Timer r /\ release (job h i) <= r) \/ comes h i.
Hypothesis Apart : forall k j h i, edge (Does k j) (Does h i) -> counted h i = true -> job k j <> job h i ->
  due (job k j) <= release (job h i) \/ (k = h /\ i = S j) /\ comes h i.

Lemma passes xs st h c : exec xs st -> counted h (done st h) = true -> does h (done st h) c ->
  first h (done st h) \/ release (job h (done st h)) <= clock (since st h) ->
  (forall t, clock xs < t -> ~ holds xs st t h c) -> release (job h (done st h)) <= clock xs.
Proof.
  intros E K D F N. destruct (told_since _ _ _ _ (exec_told xs st E) h) as [ys Ex].
  destruct (exec_steps xs st E) as [s H].
  assert (Le : clock (since st h) <= clock xs).
  { rewrite Ex in H |- *. apply (clock_grows _ _ _ H). }
  destruct F as [F|F]; [|lia]. destruct (Starts h _ c K D F) as [(r & -> & Lr)|Co].
  - destruct (Nat.le_gt_cases r (clock xs)) as [L|L]; [lia|]. destruct (N r L). simpl. apply le_n.
  - rewrite (Co xs st E eq_refl). exact Le.
Qed.
Lemma first_or_same h i : first h (S i) \/ job h i = job h (S i).
Proof. destruct (Nat.eq_dec (job h i) (job h (S i))) as [E|N]; [right; exact E|left; right; exists i; tauto]. Qed.
Lemma began xs st : exec xs st -> forall h c, counted h (done st h) = true -> does h (done st h) c ->
  first h (done st h) \/ release (job h (done st h)) <= clock (since st h).
Proof.
  assert (Step : forall xs st h c ys, exec xs st -> exec ys (goes h ys st) ->
    (forall h c, counted h (done st h) = true -> does h (done st h) c ->
      first h (done st h) \/ release (job h (done st h)) <= clock (since st h)) ->
    does h (done st h) c -> (forall t, clock xs < t -> ~ holds xs st t h c) -> clock xs = clock ys ->
    forall k d, counted k (done (goes h ys st) k) = true -> does k (done (goes h ys st) k) d -> first k (done (goes h
      ys st) k) \/
      release (job k (done (goes h ys st) k)) <= clock (since (goes h ys st) k)).
  { intros xs' st' h c ys E E' IH D N Cl k d Kd Dk. destruct (Nat.eq_dec k h) as [->|Nk].
    - destruct (same h ys st') as [Dn Sn]. rewrite Dn, Sn in *.
      destruct (first_or_same h (done st' h)) as [F|J]; [left; exact F|right].
      destruct (Closed _ _ _ _ (Next _ _ _ h _) Kd) as [K|[_ Co]].
      + rewrite <- J, <- Cl. apply (passes xs' st' h c E K D (IH h c K D) N).
      + rewrite (Co ys _ E' Dn), Sn. apply le_n.
    - unfold done, since in *. rewrite (other _ _ _ _ Nk) in *. apply (IH k d Kd Dk). }
  induction 1 as [|xs st x s E IH H N Ho|xs st h o e s E IH Dh W H|xs st h c E IH Dh N Ho].
  - intros h c _ _. left. left. reflexivity.
  - exact IH.
  - apply (Step xs st h _ _ E (Launches _ _ _ xs st h o e s E Dh W H) IH Dh); [intros t _ []|].
    rewrite clock_last. reflexivity.
  - apply (Step xs st h c xs E (Goes_on _ _ _ xs st h c E Dh N Ho) IH Dh Ho eq_refl).
Qed.
(* Then it was released. *)
Lemma passed xs st h c : exec xs st -> counted h (done st h) = true -> does h (done st h) c ->
  (forall t, clock xs < t -> ~ holds xs st t h c) -> release (job h (done st h)) <= clock xs.
Proof. intros E K D. apply (passes xs st h c E K D), (began xs st E h c K D). Qed.

Lemma released xs st : exec xs st -> forall o, In o (launches xs) -> counted (by_host o) (by_call o) = true ->
  release (job (by_host o) (by_call o)) <= launched_at o.
Proof.
  induction 1 as [|xs st x s E IH H N Ho|xs st h o e s E IH Dh W H|xs st h c E IH Dh N Ho].
  - intros o [].
  - intros o I. apply IH. rewrite launches_app, in_app_iff in I. destruct I as [I|I]; [exact I|].
    destruct x; simpl in I; try tauto. destruct (N o0 eq_refl).
  - intros p I K. rewrite launches_app, in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (IH p I K)|].
    destruct (last_step g _ _ _ _ H) as (u & Hu & St).
    destruct (launched_now g u _ s o St (or_introl eq_refl)) as (_ & At & _).
    rewrite At, (now_is_clock xs u Hu). unfold by_host, by_call in *. rewrite W in *. simpl in *.
    apply (passed xs st h _ E K Dh). intros t _ [].
  - exact IH.
Qed.

(* What is known of a run, and of when a call ends whose path is so long: that it is no later than a length after the
   release, that it is no later than something of which this is known and a pause, and of what asks for operations. *)
Variables (fine : list label -> Prop) (within : list label -> nat -> nat -> Prop).
Definition is_run (xs : list label) : Prop := exists s, steps g (empty g) xs s.
(* What is known of host [h] at the call at which it is: now, and when it began. *)
Definition known (xs : list label) (st : hosts) (h : nat) : Prop :=
  within xs (job h (done st h)) (path h (done st h)) /\
  (exists B, within (since st h) (job h (done st h)) B /\ B + pauses h (done st h) <= path h (done st h)) /\
  (forall e, does h (done st h) (Pause e) -> clock xs <= clock (since st h) + e).
Definition on_path (xs : list label) (st : hosts) : Prop := forall h c, counted h (done st h) = true ->
  does h (done st h) c -> known xs st h.
Hypothesis More : forall xs j A B, within xs j A -> A <= B -> within xs j B.
Hypothesis Later : forall xs ys j B d, within xs j B -> is_run (xs ++ ys) -> clock (xs ++ ys) <= clock xs + d ->
  within (xs ++ ys) j (B + one * d).
Hypothesis At_release : forall xs j d B, is_run xs -> clock xs <= release j + d -> one * d <= B -> within xs j B.
Hypothesis In_time : forall xs st h c, exec xs st -> fine xs -> counted h (done st h) = true -> does h (done st h) c ->
  known xs st h -> clock xs <= due (job h (done st h)).
Hypothesis Asked_for : forall xs st h w p B, exec xs st -> fine xs -> counted h (done st h) = true ->
  does h (done st h) (Await w) -> awaited w h (since st h) p -> left_at g xs p -> within (since st h) (job h (done st
    h)) B ->
  B <= path h (done st h) -> within xs (job h (done st h)) (path h (done st h)).
Hypothesis Begins : fine [].
Hypothesis Goes : forall xs st x, exec (xs ++ [x]) st -> fine xs -> (forall o, x <> Launch o) -> fine (xs ++ [x]).
Hypothesis Launching : forall xs st h o e, exec xs st -> fine xs -> does h (done st h) (Submit (stream o) (what o) e) ->
  who (number o) = (h, done st h) -> exec (xs ++ [Launch o]) (goes h (xs ++ [Launch o]) st) ->
  (counted h (done st h) = true -> within xs (job h (done st h)) (path h (done st h))) -> fine (xs ++ [Launch o]).

Lemma within_same xs x j B : is_run (xs ++ [x]) -> clock (xs ++ [x]) = clock xs -> within xs j B -> within (xs ++ [x])
  j B.
Proof.
  intros H E T. rewrite <- (Nat.add_0_r B), <- (Nat.mul_0_r one). apply Later; [exact T|exact H|lia].
Qed.
(* A host comes to its next call. *)
Lemma next_on_path xs st h c ys : exec xs st -> exec ys (goes h ys st) -> on_path xs st -> fine xs ->
  does h (done st h) c -> (ys = xs \/ exists x, ys = xs ++ [x] /\ clock ys = clock xs) -> on_path ys (goes h ys st).
Proof.
  intros E E' P L D Y k d K Dk.
  assert (Cl : clock ys = clock xs) by (destruct Y as [->|(x & _ & Cl)]; [reflexivity|exact Cl]).
  assert (Keep : forall j B, within xs j B -> within ys j B).
  { intros j B T. destruct Y as [->|(x & -> & Q)]; [exact T|apply (within_same xs x j B (exec_steps _ _ E') Q T)]. }
  destruct (Nat.eq_dec k h) as [->|N].
  2: { unfold known, done, since in *. rewrite (other _ _ _ _ N) in *. destruct (P k d K Dk) as (T & B & R).
    split; [apply Keep, T|]. split; [exact B|]. rewrite Cl. exact R. }
  destruct (same h ys st) as [Dn Sn]. unfold known. rewrite Dn, Sn in *.
  enough (B : exists B, within ys (job h (S (done st h))) B /\ B + pauses h (S (done st h)) <= path h (S (done st h))).
  { split; [|split; [exact B|lia]]. destruct B as (B & T' & Le). apply (More ys _ B); [exact T'|lia]. }
  assert (Here : comes h (S (done st h)) ->
    exists B, within ys (job h (S (done st h))) B /\ B + pauses h (S (done st h)) <= path h (S (done st h))).
  { intros Co. exists 0. split; [|apply (Own h _ K)]. apply (At_release ys _ 0); [apply (exec_steps _ _ E')| |lia].
    rewrite (Co ys _ E' Dn), Sn. lia. }
  destruct (Closed _ _ _ _ (Next _ _ _ h _) K) as [Kh|[_ Co]]; [|apply (Here Co)].
  assert (Kn := P h c Kh D). assert (T := proj1 Kn).
  destruct (Nat.eq_dec (job h (done st h)) (job h (S (done st h)))) as [J|J].
  - exists (path h (done st h)). split; [rewrite <- J; apply Keep, T|]. apply (Path _ _ _ _ (Next _ _ _ h _) K J).
  - destruct (Apart _ _ _ _ (Next _ _ _ h (done st h)) K J) as [Le|[_ Co]]; [|apply (Here Co)].
    exists 0. split; [|apply (Own h _ K)]. apply (At_release ys _ 0); [apply (exec_steps _ _ E')| |lia].
    assert (Z := In_time xs st h c E L Kh D Kn). lia.
Qed.
(* Time passes. *)
Lemma time_on_path xs st t s : exec xs st -> exec (xs ++ [Until t]) st -> steps g (empty g) (xs ++ [Until t]) s ->
  (forall h c, does h (done st h) c -> holds xs st t h c) -> on_path xs st -> fine (xs ++ [Until t]) ->
  on_path (xs ++ [Until t]) st.
Proof.
  intros E E' H Ho P L. assert (R : is_run (xs ++ [Until t])) by (exists s; exact H).
  assert (Cl : clock (xs ++ [Until t]) = t) by apply clock_last.
  assert (Known : forall h c, counted h (done st h) = true -> does h (done st h) c ->
    within (xs ++ [Until t]) (job h (done st h)) (path h (done st h)) -> known (xs ++ [Until t]) st h).
  { intros h c K D T. split; [exact T|]. split; [apply (P h c K D)|]. intros e De. rewrite Cl. apply (Ho h _ De). }
  enough (Z : forall n h c, rank h (done st h) < n -> counted h (done st h) = true -> does h (done st h) c ->
    within (xs ++ [Until t]) (job h (done st h)) (path h (done st h))).
  { intros h c K D. apply (Known h c K D), (Z _ h c (le_n _) K D). }
  induction n as [|n IH]; intros h c Rk K D; [lia|]. destruct (P h c K D) as (_ & (B & T & Le) & _).
  assert (Hc := Ho h c D).
  assert (Of_host : forall k, done st k < length (program k) -> edge (Does k (done st k)) (Does h (done st h)) ->
    within (xs ++ [Until t]) (job h (done st h)) (path h (done st h))).
  { intros k Lt Ed. destruct (nth_error (program k) (done st k)) as [d|] eqn:Dk; [|apply nth_error_None in Dk; lia].
    destruct (Closed _ _ _ _ Ed K) as [Kk|[[-> Ea] _]]; [|lia].
    assert (Rl := Acyclic _ _ _ _ Ed K).
    assert (Tk := IH k d ltac:(lia) Kk Dk). destruct (Nat.eq_dec (job k (done st k)) (job h (done st h))) as [J|J].
    - rewrite <- J. apply (More _ _ _ _ Tk). assert (Q := Path _ _ _ _ Ed K J). lia.
    - apply (At_release _ _ 0); [exact R| |lia]. assert (Z := In_time _ st k d E' L Kk Dk (Known k d Kk Dk Tk)).
      destruct (Apart _ _ _ _ Ed K J) as [Q|[[-> Ea] _]]; lia. }
  destruct c as [q w e|e|r|w|b|k]; simpl in Hc.
  - destruct Hc.
  - destruct (told_since _ _ _ _ (exec_told xs st E) h) as [ys Ex]. rewrite Ex, <- app_assoc.
    apply (More _ _ (B + one * e)); [apply Later; [exact T| |]|]; try (rewrite app_assoc, <- Ex).
    + exact R.
    + rewrite Cl. exact Hc.
    + unfold pauses, pause in Le. rewrite D in Le. exact Le.
  - apply (At_release _ _ (r - release (job h (done st h)))); [exact R|lia|]. apply (Timers h _ r K D).
  - destruct Hc as (p & A & Lp).
    apply (Asked_for _ st h w p B E' L K D A); [|exact T|lia]. apply (left_until g program who xs t s p H Lp).
  - destruct Hc as (k & I & Lt & Less). apply (Of_host k Lt). apply (Met _ _ _ h _ b k _ D I Lt Less).
  - apply (Of_host k Hc). apply (Joined _ _ _ h _ k _ D Hc).
Qed.

Theorem runs_on_path : forall xs st, exec xs st -> fine xs /\ on_path xs st.
Proof.
  induction 1 as [|xs st x s E [L P] H N Ho|xs st h o e s E [L P] Dh W H|xs st h c E [L P] Dh N Ho].
  - split; [exact Begins|]. intros h c K _. unfold done, since. simpl.
    assert (T : within [] (job h 0) 0).
    { apply (At_release _ _ 0); [exists (empty g); constructor|apply Nat.le_0_l|lia]. }
    split; [apply (More _ _ 0); [exact T|lia]|]. split; [|intros e _; apply Nat.le_0_l].
    exists 0. split; [exact T|]. apply (Own h 0 K).
  - assert (E' := Gpu _ _ _ xs st x s E H N Ho). assert (L' := Goes xs st x E' L N). split; [exact L'|].
    assert (D : (exists t, x = Until t) \/ clock (xs ++ [x]) = clock xs).
    { rewrite clock_last. destruct x; [right; reflexivity..|left; eauto]. }
    destruct D as [[t ->]|Cl].
    + apply (time_on_path xs st t s E E' H); try assumption. intros h c. apply (Ho t h c eq_refl).
    + intros h c K D. destruct (P h c K D) as (T & B & Le). split; [|split; [exact B|rewrite Cl; exact Le]].
      apply (within_same xs x _ _ (exec_steps _ _ E') Cl T).
  - assert (E' := Launches _ _ _ xs st h o e s E Dh W H). split.
    + apply (Launching xs st h o e E L Dh W E'). intros K. apply (P h _ K Dh).
    + apply (next_on_path xs st h _ _ E E' P L Dh). right. exists (Launch o). rewrite clock_last. tauto.
  - split; [exact L|]. apply (next_on_path xs st h c xs E (Goes_on _ _ _ xs st h c E Dh N Ho) P L Dh). left.
    reflexivity.
Qed.
End Segments.
