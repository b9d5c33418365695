(* Host programs and who waits for whom. A host does one call after another. Time passes only while something holds
   each host, so what a host does next begins as soon as what it waits for is over. The graph that is read off the
   programs has all that hosts and their operations wait for, so bounds along its paths hold of every operation and of
   every host. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial busy closed choices waits shared heads paths
  others ends programs.

(* What a host may wait for: all in some streams (one; or those of its process, for the device), what it launched last,
   the last record of an event. *)
Inductive wait := In_streams (l : list nat) | Last | Event (e : nat).
(* A pause is a sleep, or work as long as it takes in the run. A timer releases. A thread may wait at a barrier for all
   that use it, or for the end of another. A launch is an operation's stream and work, and the event that it records.
   *)
Inductive call :=
| Submit (q : nat) (w : model.work) (event : option nat)
| Pause (e : nat) | Timer (r : nat) | Await (w : wait) | Meet (b : nat) | Join (k : nat).
Definition is_meet (b : nat) (c : call) : bool := match c with Meet d => d =? b | _ => false end.
Definition meets (b : nat) (l : list call) : nat := length (filter (is_meet b) l).

(* The time after some steps, and what is left then. *)
Definition clock (xs : list label) : nat := fold_left (fun t x => match x with Until u => u | _ => t end) xs 0.
Definition left_at (g : device) (xs : list label) (p : operation) : Prop :=
  exists s, steps g (empty g) xs s /\ is_left s p.

Section Hosts.
Variables (g : device) (program : nat -> list call).
(* Which call of which host launches the operation of each number. *)
Variable who : nat -> nat * nat.
Definition does (h i : nat) (c : call) : Prop := nth_error (program h) i = Some c.
Definition by_host (o : operation) : nat := fst (who (number o)).
Definition by_call (o : operation) : nat := snd (who (number o)).

(* Of each host: how many calls it has done, and the steps until it began the one that it is at. *)
Definition hosts := nat -> nat * list label.
Definition done (st : hosts) (h : nat) : nat := fst (st h).
Definition since (st : hosts) (h : nat) : list label := snd (st h).
Definition goes (h : nat) (xs : list label) (st : hosts) : hosts := fun k => if k =? h then (S (done st h),
  xs) else st k.
Definition came (st : hosts) (h b : nat) : nat := meets b (firstn (S (done st h)) (program h)).

(* A wait of host [h] asks for what call [i] of host [k] launches; [is_one]: for the last one of these only. *)
Definition asks (w : wait) (h k i : nat) : Prop := exists q v e, does k i (Submit q v e) /\
  match w with In_streams l => In q l | Last => k = h | Event a => e = Some a end.
Definition is_one (w : wait) : Prop := match w with In_streams _ => False | _ => True end.
Definition awaited (w : wait) (h : nat) (begun : list label) (p : operation) : Prop :=
  In p (launches begun) /\ asks w h (by_host p) (by_call p) /\
  (is_one w -> forall o, In o (launches begun) -> asks w h (by_host o) (by_call o) -> number o <= number p).

(* Whether the call at which a host is holds it until [t]. A host that has ended counts at no barrier. *)
Definition holds (xs : list label) (st : hosts) (t h : nat) (c : call) : Prop :=
  match c with
  | Submit _ _ _ => False
  | Pause e => t <= clock (since st h) + e
  | Timer r => t <= r
  | Await w => exists p, awaited w h (since st h) p /\ left_at g xs p
  | Meet b => exists k, In (Meet b) (program k) /\ done st k < length (program k) /\ came st k b < came st h b
  | Join k => done st k < length (program k)
  end.

(* Runs of the GPU with what hosts do. *)
Inductive exec : list label -> hosts -> Prop :=
| Idle : exec [] (fun _ => (0, []))
| Gpu (xs : list label) (st : hosts) (x : label) (s : state) :
    exec xs st -> steps g (empty g) (xs ++ [x]) s -> (forall o, x <> Launch o) ->
    (forall t h c, x = Until t -> does h (done st h) c -> holds xs st t h c) ->
    exec (xs ++ [x]) st
| Launches (xs : list label) (st : hosts) (h : nat) (o : operation) (e : option nat) (s : state) :
    exec xs st -> does h (done st h) (Submit (stream o) (what o) e) -> who (number o) = (h, done st h) ->
    steps g (empty g) (xs ++ [Launch o]) s ->
    exec (xs ++ [Launch o]) (goes h (xs ++ [Launch o]) st)
| Goes_on (xs : list label) (st : hosts) (h : nat) (c : call) :
    exec xs st -> does h (done st h) c -> (forall q v e, c <> Submit q v e) ->
    (forall t, clock xs < t -> ~ holds xs st t h c) ->
    exec xs (goes h xs st).

(* The graph of the programs: the end of a call, and that of the operation which it launches. From each to what may
   have to wait for it. *)
Inductive node := Does (h i : nat) | Ends (h i : nat).
Definition coupled (q p : nat) : bool :=
  (p =? q) || (q =? 0) && blocking_of g p || negb (q =? 0) && blocking_of g q && (p =? 0).
Inductive edge : node -> node -> Prop :=
| Next (h i : nat) : edge (Does h i) (Does h (S i))
| Launched (h i : nat) : edge (Does h i) (Ends h i)
| Queued (k j h i q p : nat) (v w : model.work) (d e : option nat) :
    does k j (Submit p w d) -> does h i (Submit q v e) -> coupled q p = true -> (k = h -> j < i) ->
    edge (Ends k j) (Ends h i)
| Recorded (h i q r : nat) (e : option nat) :
    does h i (Submit q (Wait (Some r)) e) -> edge (Ends (fst (who r)) (snd (who r))) (Ends h i)
| Awaited (h i k j : nat) (w : wait) : does h i (Await w) -> asks w h k j ->
    (k = h -> j < i /\ (is_one w -> forall l, j < l < i -> ~ asks w h h l)) -> edge (Ends k j) (Does h i)
| Met (h i b k j : nat) : does h i (Meet b) -> In (Meet b) (program k) -> j < length (program k) ->
    meets b (firstn (S j) (program k)) < meets b (firstn (S i) (program h)) -> edge (Does k j) (Does h i)
| Joined (h i k j : nat) : does h i (Join k) -> j < length (program k) -> edge (Does k j) (Does h i).

(* Time, and what a state of a run is. *)
Lemma clock_last xs x : clock (xs ++ [x]) = match x with Until u => u | _ => clock xs end.
Proof. unfold clock. rewrite fold_left_app. reflexivity. Qed.
Lemma now_is_clock xs s : steps g (empty g) xs s -> now s = clock xs.
Proof.
  revert xs s. apply (in_steps g (fun xs s => now s = clock xs)); [reflexivity|].
  intros xs s x t _ St E. rewrite clock_last. destruct St; simpl; try exact E. reflexivity.
Qed.
Lemma clock_grows xs ys s : steps g (empty g) (xs ++ ys) s -> clock xs <= clock (xs ++ ys).
Proof.
  intros H. destruct (midway g ys xs _ s H) as (u & Hu & Hs). destruct (many_steps g u ys s Hs xs Hu) as [_ Le].
  rewrite (now_is_clock xs u Hu), (now_is_clock _ s H) in Le. exact Le.
Qed.
Lemma exec_steps xs st : exec xs st -> exists s, steps g (empty g) xs s.
Proof. induction 1; eauto. eexists. constructor. Qed.
Lemma left_until xs t s p : steps g (empty g) (xs ++ [Until t]) s -> left_at g xs p -> left_at g (xs ++ [Until t]) p.
Proof.
  intros H (u & Hu & k & F & I). destruct (last_step g _ _ _ _ H) as (v & Hv & St).
  assert (E := one_end g _ _ _ Hv _ Hu). subst v. exists s. split; [exact H|]. exists k. inversion St; subst. tauto.
Qed.

(* Each operation is launched by its call; each host launches in the order of its calls, all that it has done. *)
Record told (xs : list label) (st : hosts) : Prop := {
  told_since : forall h, exists ys, xs = since st h ++ ys;
  told_call : forall o, In o (launches xs) -> by_call o < done st (by_host o) /\
    exists e, does (by_host o) (by_call o) (Submit (stream o) (what o) e);
  told_all : forall h i q v e, i < done st h -> does h i (Submit q v e) ->
    exists o, In o (launches (since st h)) /\ who (number o) = (h, i);
  told_order : forall o p, In o (launches xs) -> In p (launches xs) -> by_host p = by_host o -> number p < number o ->
    by_call p < by_call o }.
Lemma same h xs st : done (goes h xs st) h = S (done st h) /\ since (goes h xs st) h = xs.
Proof. unfold done, since, goes. rewrite Nat.eqb_refl. split; reflexivity. Qed.
Lemma other h xs st k : k <> h -> goes h xs st k = st k.
Proof. intros N. unfold goes. apply Nat.eqb_neq in N. rewrite N. reflexivity. Qed.
Lemma done_goes h xs st k : done st k <= done (goes h xs st) k.
Proof.
  destruct (Nat.eq_dec k h) as [->|N]; [rewrite (proj1 (same h xs st)); lia|].
  unfold done at 2. rewrite (other h xs st k N). apply le_n.
Qed.
Lemma exec_told xs st : exec xs st -> told xs st.
Proof.
  induction 1 as [|xs st x s E [A B D O] H N _|xs st h o e s E [A B D O] Dh W H|xs st h c E [A B D O] Dh N _].
  - split; [intros h; exists []; reflexivity|intros o []|intros h i q v e L; unfold done in L; simpl in L;
    lia|intros o p []].
  - assert (L : launches (xs ++ [x]) = launches xs).
    { rewrite launches_app. destruct x; simpl; try apply app_nil_r. destruct (N o eq_refl). }
    split; rewrite ?L; try assumption. intros h. destruct (A h) as [ys ->]. exists (ys ++ [x]). rewrite app_assoc.
    reflexivity.
  - destruct (last_step g _ _ _ _ H) as (u & Hu & St).
    assert (Num : number o = launched u) by (inversion St; subst; assumption).
    assert (By : by_host o = h /\ by_call o = done st h) by (unfold by_host, by_call; rewrite W; split; reflexivity).
    destruct By as [Bh Bc].
    assert (New : forall p, In p (launches (xs ++ [Launch o])) -> p = o \/ In p (launches xs)).
    { intros p I. rewrite launches_app, in_app_iff in I. simpl in I. destruct I as [I|[->|[]]]; tauto. }
    assert (Old : forall p, In p (launches xs) -> number p < number o).
    { intros p I. rewrite Num. apply (number_of_launch g xs u p Hu I). }
    split.
    + intros k. destruct (Nat.eq_dec k h) as [->|Nk]; [rewrite (proj2 (same _ _ _)); exists []; symmetry;
      apply app_nil_r|].
      unfold since. rewrite (other _ _ _ _ Nk). destruct (A k) as [ys Ex]. exists (ys ++ [Launch o]).
      rewrite app_assoc. unfold since in Ex. rewrite <- Ex. reflexivity.
    + intros p I. destruct (New p I) as [->|I'].
      * rewrite Bh, Bc, (proj1 (same _ _ _)). split; [lia|exists e; exact Dh].
      * destruct (B p I') as [Lt Z]. split; [|exact Z]. assert (Y := done_goes h (xs ++ [Launch o]) st (by_host p)).
        lia.
    + intros k i q v d L Dk. destruct (Nat.eq_dec k h) as [->|Nk].
      * rewrite (proj1 (same _ _ _)) in L. rewrite (proj2 (same _ _ _)).
        destruct (Nat.eq_dec i (done st h)) as [->|Ni].
        -- exists o. rewrite launches_app, in_app_iff. simpl. tauto.
        -- destruct (D h i q v d ltac:(lia) Dk) as (p & I & Wp). exists p. split; [|exact Wp].
           destruct (A h) as [ys Ex]. rewrite launches_app, in_app_iff, Ex, launches_app, in_app_iff. tauto.
      * unfold done, since in *. rewrite (other _ _ _ _ Nk) in *. apply (D k i q v d L Dk).
    + intros p q Ip Iq Eh Lt. destruct (New p Ip) as [->|Ip']; destruct (New q Iq) as [->|Iq'].
      * lia.
      * destruct (B q Iq') as [Y _]. rewrite Bc. rewrite Eh, Bh in Y. exact Y.
      * specialize (Old p Ip'). lia.
      * apply (O p q Ip' Iq' Eh Lt).
  - split.
    + intros k. destruct (Nat.eq_dec k h) as [->|Nk]; [rewrite (proj2 (same _ _ _)); exists []; symmetry;
      apply app_nil_r|].
      unfold since. rewrite (other _ _ _ _ Nk). apply A.
    + intros p I. destruct (B p I) as [Lt Z]. split; [|exact Z]. assert (Y := done_goes h xs st (by_host p)). lia.
    + intros k i q v d L Dk. destruct (Nat.eq_dec k h) as [->|Nk].
      * rewrite (proj1 (same _ _ _)) in L. rewrite (proj2 (same _ _ _)).
        destruct (Nat.eq_dec i (done st h)) as [->|Ni]; [unfold does in *; rewrite Dk in Dh; destruct (N q v d);
          congruence|].
        destruct (D h i q v d ltac:(lia) Dk) as (p & I & Wp). exists p. split; [|exact Wp].
        destruct (A h) as [ys Ex]. rewrite Ex, launches_app, in_app_iff. tauto.
      * unfold done, since in *. rewrite (other _ _ _ _ Nk) in *. apply (D k i q v d L Dk).
    + exact O.
Qed.

(* What a host waits for has an edge. *)
Lemma awaited_edge xs st h w p : exec xs st -> does h (done st h) (Await w) -> awaited w h (since st h) p ->
  edge (Ends (by_host p) (by_call p)) (Does h (done st h)).
Proof.
  intros E D (I & A & One). destruct (exec_told xs st E) as [Sn Ca Al Or]. destruct (Sn h) as [ys Ex].
  assert (Sub : forall o, In o (launches (since st h)) -> In o (launches xs)).
  { intros o J. rewrite Ex, launches_app, in_app_iff. tauto. }
  apply (Awaited h _ _ _ w D A). intros Eh. assert (Lt := proj1 (Ca p (Sub p I))). rewrite Eh in Lt.
  split; [exact Lt|]. intros O l [Lo Hi] Asks. assert (Z := Asks). destruct Z as (q & v & e & Dl & _).
  destruct (Al h l q v e Hi Dl) as (o & J & W).
  assert (By : by_host o = h /\ by_call o = l) by (unfold by_host, by_call; rewrite W; split; reflexivity).
  destruct By as [Bh Bc]. assert (Le : number o <= number p) by (apply (One O o J); rewrite Bh, Bc; exact Asks).
  destruct (Nat.eq_dec (number o) (number p)) as [Q|Q].
  - unfold by_call in Lo. rewrite <- Q, W in Lo. simpl in Lo. lia.
  - assert (Y := Or p o (Sub p I) (Sub o J) ltac:(congruence) ltac:(lia)). lia.
Qed.
(* So has what an operation waits for in queues. *)
Lemma queued_edge xs st o p : exec xs st -> In o (launches xs) -> In p (launches xs) -> may_wait g o p = true ->
  edge (Ends (by_host p) (by_call p)) (Ends (by_host o) (by_call o)).
Proof.
  intros E Io Ip W. destruct (exec_told xs st E) as [_ Ca _ Or].
  destruct (Ca o Io) as (_ & e & Do). destruct (Ca p Ip) as (_ & d & Dp).
  unfold may_wait in W. rewrite andb_true_iff, Nat.ltb_lt, orb_true_iff in W. destruct W as [Lt [W|W]].
  - apply (Queued _ _ _ _ _ _ _ _ _ _ Dp Do); [exact W|]. intros Eh. apply (Or o p Io Ip Eh Lt).
  - destruct (what o) as [| | |[r|]] eqn:X; try discriminate W. apply Nat.eqb_eq in W.
    unfold by_host at 1, by_call at 1. rewrite W. apply (Recorded _ _ _ _ _ Do).
Qed.

(* What a host has waited for, as its last or in its stream, is over, whatever waits for it later. *)
Definition waited (h j i : nat) : Prop := exists l w, j < l < i /\ does h l (Await w) /\ asks w h h j /\
  match w with In_streams _ => True | Last => forall m, j < m < l -> ~ asks w h h m | Event _ => False end.
Lemma same_number xs s : steps g (empty g) xs s -> forall o p, In o (launches xs) -> In p (launches xs) ->
  number o = number p -> o = p.
Proof.
  revert xs s. apply (in_steps g (fun xs s => forall o p, In o (launches xs) -> In p (launches xs) -> number o = number
    p ->
    o = p)); [intros o p []|]. intros xs s x t H St IH o p Io Ip E. rewrite launches_app, in_app_iff in Io, Ip.
  assert (New : forall q, In q (launches [x]) -> x = Launch q /\ number q = launched s).
  { intros q I. simpl in I. rewrite app_nil_r in I. destruct (launched_now g s x t q St I) as (-> & _). inversion St;
    tauto. }
  destruct Io as [Io|Io], Ip as [Ip|Ip].
  - apply (IH o p Io Ip E).
  - assert (Q := number_of_launch g xs s o H Io). destruct (New p Ip) as [_ N]. lia.
  - assert (Q := number_of_launch g xs s p H Ip). destruct (New o Io) as [_ N]. lia.
  - destruct (New o Io) as [-> _], (New p Ip) as [X _]. congruence.
Qed.
Lemma left_earlier xs x s p : steps g (empty g) (xs ++ [x]) s -> x <> Launch p -> left_at g (xs ++ [x]) p -> left_at g
  xs p.
Proof.
  intros H N (t & Ht & L). destruct (last_step g _ _ _ _ Ht) as (u & Hu & St). exists u. split; [exact Hu|].
  assert (K := sound_kept _ _ _ _ (sound_run g (fun _ => True) xs u Hu (fun _ _ => Logic.I))).
  destruct (left_before g u x t p K St L) as [Lu|X]; [exact Lu|destruct (N X)].
Qed.
Lemma waited_is_over xs st : exec xs st -> forall p i, In p (launches xs) -> i <= done st (by_host p) ->
  waited (by_host p) (by_call p) i -> ~ left_at g xs p.
Proof.
  induction 1 as [|xs st x s E IH H N Ho|xs st h o e s E IH Dh W H|xs st h c E IH Dh N Ho]; intros p i I Le V L.
  - destruct I.
  - assert (I' : In p (launches xs)).
    { rewrite launches_app, in_app_iff in I. destruct I as [I|I]; [exact I|]. destruct x; simpl in I; try tauto.
      destruct (N _ eq_refl). }
    apply (IH p i I' Le V). apply (left_earlier xs x s p H (N p) L).
  - destruct V as (l & w & Lt & D & A). rewrite launches_app, in_app_iff in I. destruct I as [I|[<-|[]]].
    + apply (IH p (done st (by_host p)) I (le_n _)).
      * exists l, w. split; [|tauto]. destruct (Nat.eq_dec (by_host p) h) as [Eh|Nh].
        -- rewrite Eh in *. rewrite (proj1 (same _ _ _)) in Le. enough (l <> done st h) by lia. intros ->.
           unfold does in *. congruence.
        -- unfold done in *. rewrite (other _ _ _ _ Nh) in Le. lia.
      * apply (left_earlier xs _ s p H); [|exact L]. intros X. injection X as <-.
        destruct (last_step g _ _ _ _ H) as (u & Hu & St). assert (Q := number_of_launch g xs u o Hu I).
        inversion St; subst. lia.
    + unfold by_host, by_call in *. rewrite W in *. simpl in *. rewrite (proj1 (same _ _ _)) in Le. lia.
  - destruct (Nat.eq_dec (by_host p) h) as [Eh|Nh].
    2: { unfold done in Le. rewrite (other _ _ _ _ Nh) in Le. apply (IH p i I Le V L). }
    assert (V' := V). destruct V as (l & w & Lt & D & A & One). rewrite Eh in *. rewrite (proj1 (same _ _ _)) in Le.
    destruct (Nat.eq_dec l (done st h)) as [->|Nl].
    2: { apply (IH p (done st h) I); [rewrite Eh; apply le_n| |exact L]. rewrite Eh. exists l, w. split; [lia|tauto]. }
    unfold does in Dh, D. rewrite D in Dh. injection Dh as <-. destruct (exec_told xs st E) as [Sn Ca Al Or].
    apply (Ho (S (clock xs)) (le_n _)). exists p. split; [|exact L]. destruct (Sn h) as [ys Ex].
    assert (Sub : forall q, In q (launches (since st h)) -> In q (launches xs)).
    { intros q J. rewrite Ex, launches_app, in_app_iff. tauto. }
    destruct (Ca p I) as (_ & e & Dp). rewrite Eh in Dp. destruct (Al h _ _ _ _ (proj1 Lt) Dp) as (o & J & W).
    assert (By : by_host o = h /\ by_call o = by_call p) by (unfold by_host, by_call at 1; rewrite W; split;
      reflexivity).
    destruct By as [Bh Bc]. destruct (exec_steps xs st E) as [s H].
    assert (o = p).
    { apply (same_number xs s H o p (Sub o J) I). destruct (Nat.lt_trichotomy (number o) (number p)) as [Q|[Q|Q]];
        [|exact Q|].
      - assert (Y := Or p o I (Sub o J) ltac:(congruence) Q). lia.
      - assert (Y := Or o p (Sub o J) I ltac:(congruence) Q). lia. }
    subst o. split; [exact J|]. rewrite Eh. split; [exact A|]. intros O q Jq Aq. destruct w as [l| |a];
      [destruct O| |destruct One].
    assert (Eq := Aq). destruct Eq as (q1 & v & e' & _ & Eq). apply Nat.nlt_ge. intros Q.
    assert (Y := Or q p (Sub q Jq) I ltac:(congruence) Q). rewrite Eq in Aq. apply (One (by_call q)); [|exact Aq].
    assert (Z := proj1 (Ca q (Sub q Jq))). rewrite Eq in Z. lia.
Qed.
End Hosts.
