(* By when all of a stream is over where kernels share the GPU: what keeps a head out weighs enough, and each block runs
   only so long. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model executable follows lists usage merged sustainable queues progress next serial busy.

Section Shared.
Variables (g : device) (top : nat) (blocks : nat -> nat) (P : operation -> Prop).
Hypothesis C : closed g top blocks P.
Local Notation upper := (upper g top).
Local Notation level_of := (level_of g top).
Local Notation of_upper := (of_upper g top).

(* A block or copy of an operation weighs this much; [one] is what keeps a head out. *)
Variables (weight : operation -> nat) (one : nat).
Definition weighs (l : list run) : nat := sum (map (fun r => of_upper weight (of r)) l).
(* What all its blocks weigh together, each as long as it may run. *)
Definition each (o : operation) : nat := weight o * worst_of o.
Definition work_of (o : operation) : nat :=
  match what o with Kernel n _ _ => n * each o | Copy _ _ => each o | _ => 0 end.

(* The blocks that run keep out whatever does not fit any SM that it may use. *)
Definition heavy : Prop := forall s o n need lasts, usage g s -> everywhere P s -> P o -> upper o = true ->
  what o = Kernel n need lasts -> (forall i room, may_use g o i -> ~ R1 s need i room) ->
  (forall r, In r (running s) -> is_block r = true -> upper (of r) = true) -> one <= weighs (running s).
Hypothesis Heavy : heavy.

(* The stream that is looked at waits for no other stream, and copies that its copies wait for weigh enough. *)
Variable q : nat.
Record alone : Prop := {
  alone_upper : level_of q < top;
  alone_null : forall o p, P o -> P p -> stream o = q -> stream p <> q ->
    ~ (q = 0 /\ is_blocking g (stream p) \/ q <> 0 /\ is_blocking g q /\ stream p = 0);
  alone_wait : forall o r, P o -> stream o = q -> what o <> Wait (Some r);
  alone_copy : forall o p e l m, P o -> P p -> stream o = q -> what o = Copy e l -> what p = Copy e m ->
    one <= weight p
}.
Hypothesis A : alone.

(* What is left of all work. *)
Definition left_of (t : nat) (r : run) : nat := of_upper weight (of r) * (ends r - t).
Definition queued (k : stream_queue) : nat :=
  sum (map (of_upper work_of) (if gone_on k then tl (waiting k) else waiting k)).
Definition in_ee (k : list (operation * nat)) : nat := sum (map (fun x => snd x * of_upper each (fst x)) k).
Definition in_ce (k : list operation) : nat := sum (map (of_upper each) k).
Definition remains (s : state) : nat :=
  sum (map queued (queues s)) + sum (map in_ee (ee s)) + sum (map in_ce (ce s)) +
  sum (map (left_of (now s)) (running s)).

(* How long an operation of the stream takes beside what keeps it out. *)
Definition takes_time (o : operation) : nat :=
  match what o with Kernel _ _ _ => blocks (pred top) + worst_of o | _ => worst_of o end.
Definition ahead (s : state) : nat :=
  match nth_error (queues s) q with
  | Some k => sum (map takes_time (if gone_on k then tl (waiting k) else waiting k))
  | None => 0
  end.
(* The head of the stream, if it has gone on, is over within [v], but for what keeps it out. *)
Definition head_within (s : state) (v : nat) : Prop :=
  forall o rest, nth_error (queues s) q = Some (Queue true (o :: rest)) ->
  (forall r, In r (running s) -> of r = o -> ends r <= now s + v) /\
  (forall l k n, nth_error (ee s) l = Some k -> In (o, n) k -> exists B, B + worst_of o <= v /\
    forall r, In r (running s) -> is_block r = true -> top <= level_of (stream (of r)) -> ends r <= now s + B) /\
  (forall e k, nth_error (ce s) e = Some k -> In o k -> worst_of o <= v).

Lemma sum_running (f : run -> nat) before r after : sum (map f (before ++ after)) + f r = sum (map f (before ++ r :: after)).
Proof. rewrite !map_app, !sum_app. simpl. lia. Qed.

(* But for time and launches, nothing adds to the work. *)
Lemma remains_step s x t : in_order g s -> step g s x t -> (forall u, x <> Until u) ->
  remains t <= remains s + sum (map (of_upper work_of) (launch x)).
Proof.
  intros O H N. unfold remains. destruct H; simpl; try rewrite Nat.add_0_r; try apply le_n;
    try match goal with F : first_ready _ _ _ _ _ |- _ => destruct F as [[F0 _] _] end.
  - assert (S := sum_update queued (Queue false rest) _ _ _ H5). unfold queued at 2 4 in S. simpl in S.
    rewrite H1. assert (R := sum_running (left_of (now s)) before r after). lia.
  - rewrite H1. assert (R := sum_running (left_of (now s)) before r after). lia.
  - assert (S := sum_update queued (Queue b (before ++ [o])) _ _ _ H4).
    assert (E : queued (Queue b (before ++ [o])) = queued (Queue b before) + of_upper work_of o).
    { unfold queued. simpl. destruct b.
      - assert (G := order_gone g s O _ _ H4 eq_refl). simpl in G. destruct before as [|h before]; [congruence|].
        simpl. rewrite map_app, sum_app. simpl. lia.
      - rewrite map_app, sum_app. simpl. lia. }
    lia.
  - assert (S := sum_update queued (Queue true (o :: rest)) _ _ _ F0). unfold queued at 2 4 in S. simpl in S.
    assert (T := sum_update in_ee (before ++ [(o, n)]) _ _ _ H2). unfold in_ee at 4 in T.
    rewrite map_app, sum_app in T. fold (in_ee before) in T. simpl in T.
    assert (W : of_upper work_of o = n * of_upper each o)
      by (unfold serial.of_upper, work_of; rewrite H0; destruct (upper o); lia). lia.
  - assert (S := sum_update queued (Queue true (o :: rest)) _ _ _ F0). unfold queued at 2 4 in S. simpl in S.
    assert (T := sum_update in_ce (before ++ [o]) _ _ _ H1). unfold in_ce at 4 in T.
    rewrite map_app, sum_app in T. fold (in_ce before) in T. simpl in T.
    assert (W : of_upper work_of o = of_upper each o) by (unfold serial.of_upper, work_of; rewrite H0; reflexivity). lia.
  - assert (S := sum_update queued (Queue false rest) _ _ _ F0). unfold queued at 2 4 in S. simpl in S. lia.
  - destruct H0 as [Q _]. assert (T := sum_update in_ce rest _ _ _ Q).
    change (in_ce (o :: rest)) with (of_upper each o + in_ce rest) in T.
    rewrite map_app, sum_app. simpl. unfold left_of at 2. simpl.
    assert (W : of_upper weight o * (now s + d - now s) <= of_upper each o); [|lia].
    destruct H3 as [_ D]. replace (now s + d - now s) with d by lia. unfold serial.of_upper, each, worst_of. rewrite H2.
    destruct (upper o); [apply Nat.mul_le_mono_l, D|apply le_n].
  - destruct H1 as [Q _]. assert (T := sum_update in_ee (G3 o n rest) _ _ _ Q).
    change (in_ee ((o, S n) :: rest)) with (S n * of_upper each o + in_ee rest) in T.
    assert (G : in_ee (G3 o n rest) = n * of_upper each o + in_ee rest) by (destruct n; reflexivity).
    rewrite map_app, sum_app. simpl. unfold left_of at 2. simpl.
    assert (W : of_upper weight o * (now s + d - now s) <= of_upper each o); [|simpl in T; lia].
    destruct H5 as [_ D]. replace (now s + d - now s) with d by lia. unfold serial.of_upper, each, worst_of. rewrite H2.
    destruct (upper o); [apply Nat.mul_le_mono_l, D|apply le_n].
  - destruct (N t eq_refl).
Qed.

(* As time passes, what runs gets done. *)
Lemma work_of_time (l : list run) t u : t <= u -> (forall r, In r l -> u <= ends r) ->
  sum (map (left_of u) l) + (u - t) * weighs l = sum (map (left_of t) l).
Proof.
  intros L. unfold weighs. induction l as [|r l IH]; intros E; simpl; [lia|].
  specialize (IH (fun x I => E x (or_intror I))). specialize (E r (or_introl eq_refl)). unfold left_of at 1 3.
  replace (ends r - t) with (ends r - u + (u - t)) by lia. nia.
Qed.
Lemma one_weighs r l : In r l -> of_upper weight (of r) <= weighs l.
Proof.
  unfold weighs. induction l as [|x l IH]; intros I; [destruct I|]. destruct I as [->|I]; simpl; [lia|].
  specialize (IH I). lia.
Qed.

(* Where the queue of the stream is as it was, and nothing begins. *)
Lemma calm s t v : now t = now s -> nth_error (queues t) q = nth_error (queues s) q ->
  (forall r, In r (running t) -> In r (running s)) ->
  (forall o rest, nth_error (queues s) q = Some (Queue true (o :: rest)) ->
    (forall l k n, nth_error (ee t) l = Some k -> In (o, n) k ->
      exists l' k' n', nth_error (ee s) l' = Some k' /\ In (o, n') k') /\
    (forall e k, nth_error (ce t) e = Some k -> In o k -> exists e' k', nth_error (ce s) e' = Some k' /\ In o k')) ->
  head_within s v -> head_within t v /\ ahead t = ahead s.
Proof.
  intros N Q R E V. split; [|unfold ahead; rewrite Q; reflexivity]. intros o rest F. rewrite Q in F. rewrite N.
  destruct (V o rest F) as (V1 & V2 & V3), (E o rest F) as (E1 & E2). split; [|split].
  - intros r I. apply V1, R, I.
  - intros l k n G I. destruct (E1 l k n G I) as (l' & k' & n' & G' & I'). destruct (V2 l' k' n' G' I') as (B & L & W).
    exists B. split; [exact L|]. intros r J. apply W, R, J.
  - intros e k G I. destruct (E2 e k G I) as (e' & k' & G' & I'). apply (V3 e' k' G' I').
Qed.

(* The head goes on; or it is in its EE queue, in its CE queue, or all of it has begun. *)
Lemma head_step s x t v : usage g s -> kept g s -> in_order g s -> everywhere P s -> step g s x t ->
  (forall u, x <> Until u) -> head_within s v ->
  exists v', head_within t v' /\
    v' + ahead t <= v + ahead s + sum (map (fun o => if stream o =? q then takes_time o else 0) (launch x)).
Proof.
  intros U K O Ps H N V.
  assert (Gone : forall o rest, nth_error (queues s) (stream o) = Some (Queue false (o :: rest)) ->
    (forall r, In r (running s) -> of r <> o) /\
    (forall l k n, nth_error (ee s) l = Some k -> ~ In (o, n) k) /\
    (forall e k, nth_error (ce s) e = Some k -> ~ In o k)).
  { intros o rest F. repeat split.
    - intros r I E. destruct (kept_running K r I) as [m Q]. rewrite E, F in Q. discriminate Q.
    - intros l k n E I. destruct (queues.kept_ee g s K l k _ E I) as ([m Q] & _). simpl in Q. rewrite F in Q.
      discriminate Q.
    - intros e k E I. destruct (kept_ce K e k o E I) as ([m Q] & _). rewrite F in Q. discriminate Q. }
  (* An operation of the stream leaves its queue, or goes on. *)
  assert (Leaves : forall o rest, nth_error (queues s) q = Some (Queue true (o :: rest)) \/
      nth_error (queues s) q = Some (Queue false (o :: rest)) ->
    nth_error (queues t) q = Some (Queue false rest) -> exists v', head_within t v' /\ v' + ahead t <= v + ahead s).
  { intros o rest F G. exists 0. split; [intros p m G'; rewrite G in G'; discriminate G'|].
    unfold ahead. rewrite G. destruct F as [F|F]; rewrite F; simpl; lia. }
  assert (Calm : now t = now s -> nth_error (queues t) q = nth_error (queues s) q ->
    (forall r, In r (running t) -> In r (running s)) ->
    (forall o rest, nth_error (queues s) q = Some (Queue true (o :: rest)) ->
      (forall l k n, nth_error (ee t) l = Some k -> In (o, n) k ->
        exists l' k' n', nth_error (ee s) l' = Some k' /\ In (o, n') k') /\
      (forall e k, nth_error (ce t) e = Some k -> In o k -> exists e' k', nth_error (ce s) e' = Some k' /\ In o k')) ->
    exists v', head_within t v' /\ v' + ahead t <= v + ahead s + 0).
  { intros A1 A2 A3 A4. destruct (calm s t v A1 A2 A3 A4 V) as [Z1 Z2]. exists v. split; [exact Z1|lia]. }
  destruct H; simpl in *; try (rewrite Nat.add_0_r in * );
    try match goal with F : first_ready _ _ _ _ _ |- _ => destruct F as [[F0 _] _] end;
    try (apply Calm; [reflexivity|reflexivity|tauto|intros p m _; split; eauto]; fail).
  - (* the last block ended *)
    destruct (Nat.eq_dec (stream (of r)) q) as [Z|Z].
    + rewrite Z in *. apply (Leaves (of r) rest); [left; exact H5|apply (update_same _ _ _ _ H5)].
    + apply Calm; [reflexivity|apply update_other, Z| |intros p m _; split; eauto].
      intros b I. rewrite H1. apply in_app_iff in I. apply in_app_iff. simpl. tauto.
  - apply Calm; [reflexivity|reflexivity| |intros p m _; split; eauto].
    intros b I. rewrite H1. apply in_app_iff in I. apply in_app_iff. simpl. tauto.
  - (* a launch *)
    destruct (Nat.eqb_spec (stream o) q) as [Z|Z].
    + rewrite Z in *. exists v. split.
      * intros p m F. simpl in F. rewrite (update_same _ _ _ _ H4) in F. injection F as -> F.
        assert (G := order_gone g s O _ _ H4 eq_refl). simpl in G. destruct before as [|h before]; [congruence|].
        injection F as -> _. apply (V p before H4).
      * unfold ahead. simpl. rewrite (update_same _ _ _ _ H4), H4. simpl. destruct b.
        { assert (G := order_gone g s O _ _ H4 eq_refl). simpl in G. destruct before as [|h before]; [congruence|].
          simpl. rewrite map_app, sum_app. simpl. lia. }
        { rewrite map_app, sum_app. simpl. lia. }
    + destruct (calm s (State (now s) (turn s) (S (launched s)) (update (stream o) (Queue b (before ++ [o])) (queues s))
        (ee s) (ce s) (running s) (free s)) v eq_refl (update_other _ _ _ _ Z) (fun r I => I)
        ltac:(intros p m _; split; eauto) V) as [Z1 Z2].
      exists v. split; [exact Z1|lia].
  - (* a kernel goes on *)
    destruct (Gone o rest F0) as (G1 & G2 & G3). destruct (Nat.eq_dec (stream o) q) as [Z|Z].
    + assert (T : takes_time o = blocks (pred top) + worst_of o) by (unfold takes_time; rewrite H0; reflexivity).
      exists (blocks (pred top) + worst_of o). split.
      * intros p m F. simpl in F. rewrite Z in *. rewrite (update_same _ _ _ _ F0) in F. injection F as <- <-.
        split; [|split]; simpl.
        { intros r I E. destruct (G1 r I E). }
        { intros l' k n' E I. exists (blocks (pred top)). split; [lia|]. intros r J Bl Lo.
          apply (lower_block g top blocks P C s r (pred top) U K Ps J Bl). assert (Z' := alone_upper A). lia. }
        { intros e k E I. destruct (G3 e k E I). }
      * unfold ahead. simpl. rewrite Z in *. rewrite (update_same _ _ _ _ F0), F0. simpl. lia.
    + apply Calm; [reflexivity|apply update_other, Z|tauto|]. intros p m F. split; [|eauto].
      intros l' k n' E I. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|exists l', k, n'; tauto].
      apply in_app_iff in I. destruct I as [I|[I|[]]]; [exists l, before, n'; tauto|]. injection I as <- _.
      assert (Sp := kept_queue K q _ o F (or_introl eq_refl)). congruence.
  - (* a copy goes on *)
    destruct (Gone o rest F0) as (G1 & G2 & G3). destruct (Nat.eq_dec (stream o) q) as [Z|Z].
    + assert (T : takes_time o = worst_of o) by (unfold takes_time; rewrite H0; reflexivity).
      exists (worst_of o). split.
      * intros p m F. simpl in F. rewrite Z in *. rewrite (update_same _ _ _ _ F0) in F. injection F as <- <-.
        split; [|split]; simpl.
        { intros r I E. destruct (G1 r I E). }
        { intros l' k n' E I. destruct (G2 l' k n' E I). }
        { intros e' k E I. lia. }
      * unfold ahead. simpl. rewrite Z in *. rewrite (update_same _ _ _ _ F0), F0. simpl. lia.
    + apply Calm; [reflexivity|apply update_other, Z|tauto|]. intros p m F. split; [eauto|].
      intros e' k E I. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|exists e', k; tauto].
      apply in_app_iff in I. destruct I as [I|[<-|[]]]; [exists e, before; tauto|].
      assert (Sp := kept_queue K q _ o F (or_introl eq_refl)). congruence.
  - (* a memset, record or wait ends *)
    destruct (Nat.eq_dec (stream o) q) as [Z|Z].
    + rewrite Z in *. apply (Leaves o rest); [right; exact F0|apply (update_same _ _ _ _ F0)].
    + apply Calm; [reflexivity|apply update_other, Z|tauto|intros p m _; split; eauto].
  - (* a copy begins *)
    destruct H0 as [Q _]. exists v. split; [|unfold ahead; simpl; lia]. intros p m F. destruct (V p m F) as (V1 & V2 & V3).
    simpl. split; [|split].
    + intros r I E. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (V1 r I E)|]. simpl in *. subst p.
      specialize (V3 _ _ Q (or_introl eq_refl)). destruct H3 as [_ D]. unfold worst_of in V3. rewrite H2 in V3. lia.
    + intros l k n E I. destruct (V2 l k n E I) as (B & L & W). exists B. split; [exact L|]. intros r J Bl.
      apply in_app_iff in J. destruct J as [J|[<-|[]]]; [apply (W r J Bl)|discriminate Bl].
    + intros e' k E I. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|apply (V3 e' k E' I)].
      apply (V3 _ _ Q). right. exact I.
  - (* a block is assigned *)
    destruct H1 as [Q Low]. exists v. split; [|unfold ahead; simpl; lia]. intros p m F.
    destruct (V p m F) as (V1 & V2 & V3). simpl. split; [|split].
    + intros r I E. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (V1 r I E)|]. simpl in *. subst p.
      destruct (V2 _ _ _ Q (or_introl eq_refl)) as (B & L & _). destruct H5 as [_ D]. unfold worst_of in L.
      rewrite H2 in L. lia.
    + intros l' k n' E I.
      assert (Old : exists k' n', nth_error (ee s) l' = Some k' /\ In (p, n') k').
      { destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|exists k, n'; tauto].
        exists ((o, S n) :: rest). destruct n as [|n]; simpl in I |- *.
        - exists n'. tauto.
        - destruct I as [I|I]; [injection I as <- _; exists (S (S n)); tauto|exists n'; tauto]. }
      destruct Old as (k' & n'' & E' & I'). destruct (V2 _ _ _ E' I') as (B & L & W). exists B. split; [exact L|].
      intros r J Bl Lo. apply in_app_iff in J. destruct J as [J|[<-|[]]]; [apply (W r J Bl Lo)|]. exfalso. simpl in Lo.
      destruct (serial.kept_ee g top s K _ _ _ Q (or_introl eq_refl)) as (_ & Lv & _). simpl in Lv.
      destruct (serial.kept_ee g top s K _ _ _ E' I') as (_ & Lp & _). simpl in Lp.
      rewrite (kept_queue K q _ p F (or_introl eq_refl)) in Lp. rewrite Lv in Lo. assert (Z := alone_upper A).
      rewrite (Low l' ltac:(lia)) in E'. injection E' as <-. destruct I'.
    + apply V3.
  - destruct (N t eq_refl).
Qed.

(* As time passes, the stream comes nearer to its end, or the work of all does. *)
Lemma head_in_time s u v : usage g s -> kept g s -> in_order g s -> everywhere P s ->
  turn s = Dispatch -> no_copy_begins s -> no_block_fits g s -> now s < u -> (forall r, In r (running s) -> u <= ends r) ->
  head_within s v -> everywhere (fun o => stream o <> q) s \/
  forall t, t = State u Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s) ->
  exists v', head_within t v' /\
    one * (u + v' + ahead t) + remains t <= one * (now s + v + ahead s) + remains s.
Proof.
  intros U K O Ps T NC NB L Ends V. assert (Went := usage_dispatch g s U T).
  destruct (nth_error (queues s) q) as [[b [|h rest]]|] eqn:F.
  1,3: left; assert (No : forall o, at_head s o -> stream o <> q) by (intros o [m G] <-; rewrite G in F; discriminate F);
    split; [|intros l k x E I; apply No, (queues.kept_ee g s K l k x E I)|intros e k o E I; apply No, (kept_ce K e k o E I)|
      intros r I; apply No, (kept_running K r I)];
    intros q' k o E I Z; assert (S := kept_queue K q' k o E I); rewrite Z in S; subst q'; rewrite F in E;
    first [discriminate E|injection E as <-; destruct I].
  right. intros t ->.
  assert (Sh := kept_queue K q _ h F (or_introl eq_refl)).
  assert (Ph := everywhere_queues _ s Ps q _ h F (or_introl eq_refl)).
  destruct b.
  2: { exfalso. apply (Went q h rest). split; [exact F|]. split; [|split].
    - intros Z p Np Bl h' (b' & m & F'). exfalso.
      assert (S' := kept_queue K p _ h' F' (or_introl eq_refl)).
      apply (alone_null A h h' Ph (everywhere_queues _ s Ps p _ h' F' (or_introl eq_refl)) Sh); [congruence|]. left.
      rewrite S'. tauto.
    - intros Z Bl h' (b' & m & F'). exfalso.
      assert (S' := kept_queue K 0 _ h' F' (or_introl eq_refl)).
      apply (alone_null A h h' Ph (everywhere_queues _ s Ps 0 _ h' F' (or_introl eq_refl)) Sh); [congruence|]. right.
      tauto.
    - intros r W. destruct (alone_wait A h r Ph Sh W). }
  destruct (V h rest F) as (V1 & V2 & V3).
  assert (Done := work_of_time (running s) (now s) u (Nat.lt_le_incl _ _ L) Ends).
  assert (Rem : remains (State u Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s)) +
    (u - now s) * weighs (running s) = remains s) by (unfold remains; simpl; lia).
  assert (Ah : ahead (State u Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s)) = ahead s)
    by reflexivity.
  rewrite Ah. clear Ah.
  assert (Apart : forall q' k o, nth_error (queues s) q' = Some k -> In o (waiting k) -> number o = number h -> q' = q).
  { intros q' k o E I Z. apply (order_apart g s O q' k o q _ h E I F (or_introl eq_refl) Z). }
  assert (Is : forall o, at_head s o -> number o = number h -> o = h).
  { intros o [m G] Z. assert (Q := Apart _ _ _ G (or_introl eq_refl) Z). rewrite Q, F in G. congruence. }
  assert (Lv : exists m, level_of q + S m = top) by (exists (top - level_of q - 1); assert (Z := alone_upper A); lia).
  destruct Lv as [m0 Lv].
  assert (Busy : one <= weighs (running s) ->
    one * (u + v + ahead s) + remains (State u Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s)) <=
    one * (now s + v + ahead s) + remains s).
  { intros W. rewrite <- Rem. assert (Z : (u - now s) * one <= (u - now s) * weighs (running s)) by nia.
    replace u with (now s + (u - now s)) at 1 by lia. nia. }
  assert (Near : forall d, u - now s <= d ->
    one * (u + (d - (u - now s)) + ahead s) +
      remains (State u Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s)) <=
    one * (now s + d + ahead s) + remains s).
  { intros d Ld. replace (u + (d - (u - now s))) with (now s + d) by lia. lia. }
  assert (X : (exists l k n, nth_error (ee s) l = Some k /\ In (h, n) k) \/
    forall l k n, nth_error (ee s) l = Some k -> ~ In (h, n) k).
  { destruct (existsb (existsb (fun x : operation * nat => number (fst x) =? number h)) (ee s)) eqn:X.
    - left. apply existsb_exists in X. destruct X as (k & I & E). apply existsb_exists in E. destruct E as ([o n] & J & N).
      apply In_nth_error in I. destruct I as [l I]. apply Nat.eqb_eq in N. exists l, k, n. split; [exact I|].
      rewrite <- (Is o (proj1 (queues.kept_ee g s K l k _ I J)) N). exact J.
    - right. intros l k n E I. assert (Z : existsb (existsb (fun x : operation * nat => number (fst x) =? number h)) (ee s)
        = true); [|congruence]. apply existsb_exists. exists k. split; [apply (nth_error_In _ _ E)|].
      apply existsb_exists. exists (h, n). split; [exact I|apply Nat.eqb_refl]. }
  destruct X as [X|Out].
  { (* in its EE queue *)
    destruct X as (l & k & n & E & I).
    destruct (V2 l k n E I) as (B & Bv & Bl).
    destruct (serial.kept_ee g top s K l k _ E I) as (_ & Lh & (hn & hneed & hlasts & Wh)).
    simpl in Lh, Wh. rewrite Sh in Lh.
    destruct (some_kernel_next s) as [Z|(l1 & o1 & n1 & rest1 & Hd)]; [rewrite (Z l k E) in I; destruct I|].
    assert (L1 : l1 <= l).
    { apply Nat.nlt_ge. intros Lt. rewrite (proj2 Hd l Lt) in E. injection E as <-. destruct I. }
    destruct (serial.kept_ee g top s K _ _ _ (proj1 Hd) (or_introl eq_refl)) as (_ & Lo1 & (n2 & need & lasts & W1)).
    simpl in Lo1, W1.
    assert (P1 := everywhere_ee _ s Ps _ _ _ (proj1 Hd) (or_introl eq_refl)). simpl in P1.
    destruct (Nat.le_gt_cases (u - now s) B) as [Le|Gt].
    - exists (v - (u - now s)). split; [|apply Near; lia]. intros o m G. simpl in G. rewrite F in G. injection G as <- <-.
      simpl. split; [|split].
      + intros r J Er. specialize (V1 r J Er). lia.
      + intros l' k' n' E' I'. exists (B - (u - now s)). split; [lia|]. intros r J Br Lo. specialize (Bl r J Br Lo). lia.
      + intros e k' E' I'. destruct (kept_ce K e k' h E' I') as (_ & _ & (la & W)). congruence.
    - assert (None : forall r, In r (running s) -> is_block r = true -> level_of (stream (of r)) < top).
      { intros r J Br. apply Nat.nle_gt. intros Lo. specialize (Bl r J Br Lo). specialize (Ends r J). lia. }
      exists v. split.
      2: { apply Busy. apply (Heavy s o1 n2 need lasts U Ps P1); [|exact W1| |].
        - unfold serial.upper. apply Nat.ltb_lt. rewrite Lo1. lia.
        - intros i room. apply (NB _ _ _ _ _ _ _ i room Hd W1).
        - intros r J Br. specialize (None r J Br). unfold serial.upper. apply Nat.ltb_lt. lia. }
      intros o m G. simpl in G. rewrite F in G. injection G as <- <-. simpl. split; [|split].
      + intros r J Er. specialize (V1 r J Er). lia.
      + intros l' k' n' E' I'. exists 0. split; [lia|]. intros r J Br Lo. specialize (None r J Br). lia.
      + intros e k' E' I'. destruct (kept_ce K e k' h E' I') as (_ & _ & (la & W)). congruence. }
  destruct (order_somewhere g s O q h rest F) as [(r & I & N)|[(l & k & x & E & I & N)|(e & k & p & E & I & N)]].
  2: { exfalso. assert (Hx := Is _ (proj1 (queues.kept_ee g s K l k x E I)) N). destruct x as [o n]. simpl in Hx. subst o.
    apply (Out l k n E I). }
  2: { (* in its CE queue *)
    assert (Hx := Is _ (proj1 (kept_ce K e k p E I)) N). subst p. destruct (kept_ce K e k h E I) as (_ & Not & (la & Wh)).
    destruct k as [|h' more]; [destruct I|].
    destruct (existsb (fun r => place_eqb (on r) (Engine e)) (running s)) eqn:X.
    2: { exfalso. apply (NC e h' more). split; [exact E|]. intros r J On.
      assert (Z : existsb (fun r => place_eqb (on r) (Engine e)) (running s) = true); [|congruence].
      apply existsb_exists. exists r. split; [exact J|]. rewrite On. simpl. apply Nat.eqb_refl. }
    apply existsb_exists in X. destruct X as (r & J & On).
    assert (On' : on r = Engine e).
    { destruct (on r) as [i|e']; simpl in On; [discriminate On|]. apply Nat.eqb_eq in On. congruence. }
    destruct (kept_copy K r e J On') as [la' Wr]. assert (Pr := everywhere_running _ s Ps r J).
    assert (Uh : upper h = true) by (unfold serial.upper; rewrite Sh; apply Nat.ltb_lt; lia).
    assert (Ur := closed_engine _ _ _ _ C h (of r) e la la' Ph Pr Uh Wh Wr).
    assert (Wt := alone_copy A h (of r) e la la' Ph Pr Sh Wh Wr).
    exists v. split.
    2: { apply Busy. assert (Z := one_weighs r (running s) J). unfold serial.of_upper in Z. rewrite Ur in Z. lia. }
    intros o m G. simpl in G. rewrite F in G. injection G as <- <-. simpl. split; [|split].
    - intros b Jb Eb. destruct (Not b Jb Eb).
    - intros l' k' n' E' I'. destruct (order_kernels g s O l' k' _ E' I') as (a1 & a2 & a3 & W). simpl in W. congruence.
    - intros e' k' E' I'. apply (V3 e' k' E' I'). }
  (* all of it has begun *)
  assert (Hr := Is _ (kept_running K r I) N).
  assert (Lr := V1 r I Hr). assert (Lu := Ends r I).
  exists (v - (u - now s)). split; [|apply Near; lia].
  intros o m G. simpl in G. rewrite F in G. injection G as <- <-. simpl. split; [|split].
  - intros b J E. specialize (V1 b J E). lia.
  - intros l k n E J. destruct (Out l k n E J).
  - intros e k E J. destruct (kept_ce K e k h E J) as (_ & Not & _). destruct (Not r I Hr).
Qed.

(* What is launched from an instant on: the work of all, and of this stream what it takes beside what keeps it out, one
   after another. *)
Variable from : nat.
Definition work_since (l : list operation) : nat :=
  sum (map (fun o => if from <=? launched_at o then of_upper work_of o else 0) l).
Definition in_turn (D : nat) (o : operation) : nat :=
  if (from <=? launched_at o) && (stream o =? q) then Nat.max D (launched_at o) + takes_time o else D.
Definition on_time (before : list operation) (s : state) : Prop :=
  remains s <= work_since before /\
  (everywhere (fun o => stream o <> q) s \/ exists v, head_within s v /\
    one * (now s + v + ahead s) + remains s <= one * fold_left in_turn before 0 + work_since before).

Lemma nothing_remains s : everywhere (fun o => upper o = false) s -> remains s = 0.
Proof.
  intros [Q E CE R]. unfold remains. rewrite !sum_none; [reflexivity| | | |].
  - intros r I. unfold left_of, serial.of_upper. rewrite (R r I). reflexivity.
  - intros k I. apply In_nth_error in I. destruct I as [e F]. apply sum_none. intros o J. unfold serial.of_upper.
    rewrite (CE e k o F J). reflexivity.
  - intros k I. apply In_nth_error in I. destruct I as [l F]. apply sum_none. intros x J. unfold serial.of_upper.
    rewrite (E l k x F J). apply Nat.mul_0_r.
  - intros k I. apply In_nth_error in I. destruct I as [p F]. apply sum_none. intros o J. unfold serial.of_upper.
    rewrite (Q p k o F); [reflexivity|]. destruct (gone_on k); [|exact J]. destruct (waiting k); [exact J|right;
      exact J].
Qed.

Lemma on_time_step before s x t : sound g P before s -> from <= now s -> step g s x t ->
  on_time before s -> on_time (before ++ launch x) t.
Proof.
  intros S Fr H [R V]. destruct S as [U K O Ps B _].
  destruct x as [o|o|o d|o i d|o p| | | |u].
  9: { (* time passes *)
    simpl. rewrite app_nil_r. inversion H; subst.
    match goal with Z : forall r, In r (running s) -> u <= ends r |- _ => rename Z into Ends end.
    assert (Lt : now s < u) by assumption.
    assert (Done := work_of_time (running s) (now s) u (Nat.lt_le_incl _ _ Lt) Ends).
    assert (Pos := Nat.le_0_l ((u - now s) * weighs (running s))).
    split; [unfold remains in *; simpl in *; lia|]. destruct V as [V|(v & V & Z)].
    - left. apply (everywhere_step _ g s _ _ V H). discriminate.
    - destruct (head_in_time s u v U K O Ps) as [E|E]; try assumption.
      + left. apply (everywhere_step _ g s _ _ E H). discriminate.
      + right. destruct (E _ eq_refl) as (v' & W & Z'). exists v'. split; [exact W|]. simpl in *. lia. }
  all: assert (Rt := remains_step s _ t O H ltac:(discriminate)); assert (Now : now t = now s) by (inversion H; reflexivity).
  2-8: simpl in *; rewrite app_nil_r; rewrite Nat.add_0_r in Rt; split; [lia|]; destruct V as [V|(v & V & Z)];
    [left; apply (everywhere_step _ g s _ _ V H); discriminate|right];
    destruct (head_step s _ t v U K O Ps H ltac:(discriminate) V) as (v' & W & Z'); simpl in Z'; exists v';
    split; [exact W|]; rewrite Now;
    assert (M : one * (v' + ahead t) <= one * (v + ahead s)) by (apply Nat.mul_le_mono_l; lia); lia.
  (* a launch *)
  destruct (launched_now g s _ t o H (or_introl eq_refl)) as (_ & At & _). simpl in Rt |- *. rewrite Nat.add_0_r in Rt.
  assert (Ws : work_since (before ++ [o]) = work_since before + of_upper work_of o).
  { unfold work_since. rewrite map_app, sum_app. simpl. rewrite At. destruct (Nat.leb_spec from (now s)); lia. }
  split; [rewrite Ws; lia|]. rewrite fold_left_app. simpl. unfold in_turn at 1. rewrite At.
  destruct (Nat.leb_spec from (now s)); [|lia]. simpl.
  destruct V as [V|(v & V & Z)].
  - destruct (Nat.eqb_spec (stream o) q) as [Sq|Sq].
    + right. exists 0. inversion H; subst.
      match goal with Q : nth_error (queues s) _ = Some (Queue b before0) |- _ => rename Q into F end.
      destruct before0 as [|h m].
      2: { destruct (everywhere_queues _ s V _ _ h F (or_introl eq_refl)).
        rewrite <- Sq. apply (kept_queue K _ _ h F (or_introl eq_refl)). }
      destruct b; [destruct (order_gone g s O _ _ F eq_refl eq_refl)|].
      split.
      * intros p m G. simpl in G. rewrite <- Sq, (update_same _ _ _ _ F) in G. discriminate G.
      * unfold ahead. simpl in *. rewrite <- Sq, (update_same _ _ _ _ F). simpl. rewrite Ws. nia.
    + left. apply (everywhere_step _ g s _ _ V H). intros p E. injection E as <-. exact Sq.
  - right. destruct (head_step s _ t v U K O Ps H ltac:(discriminate) V) as (v' & W & Z'). simpl in Z'. exists v'.
    split; [exact W|]. rewrite Now, Ws. destruct (stream o =? q).
    + assert (one * (v' + ahead t) <= one * (v + ahead s + takes_time o)) by (apply Nat.mul_le_mono_l; lia).
      assert (M := Nat.le_max_l (fold_left in_turn before 0) (now s)).
      assert (one * (fold_left in_turn before 0 + takes_time o) <=
        one * (Nat.max (fold_left in_turn before 0) (now s) + takes_time o)) by (apply Nat.mul_le_mono_l; lia). lia.
    + assert (one * (v' + ahead t) <= one * (v + ahead s)) by (apply Nat.mul_le_mono_l; lia). lia.
Qed.

(* Runs, step by step. *)
Lemma one_more_step a ys b x c : steps g a ys b -> step g b x c -> steps g a (ys ++ [x]) c.
Proof.
  intros St. induction St as [a|a a' b y ys H St IH]; intros H2; simpl.
  - eapply Go; [exact H2|constructor].
  - eapply Go; [exact H|apply IH, H2].
Qed.
Lemma in_steps (V : list label -> state -> Prop) : V [] (empty g) ->
  (forall xs s x t, steps g (empty g) xs s -> step g s x t -> V xs s -> V (xs ++ [x]) t) ->
  forall xs s, steps g (empty g) xs s -> V xs s.
Proof.
  intros V0 Go xs s H.
  assert (G : forall a xs s, steps g a xs s -> forall ys, steps g (empty g) ys a -> V ys a -> V (ys ++ xs) s).
  { clear xs s H. intros a xs s St. induction St as [a|a b s x xs H St IH]; intros ys Sy Vy; [rewrite app_nil_r; exact Vy|].
    change (x :: xs) with ([x] ++ xs). rewrite app_assoc. apply IH; [apply (one_more_step _ _ _ _ _ Sy H)|].
    apply (Go _ _ _ _ Sy H Vy). }
  apply (G _ _ _ H [] (Stop g _) V0).
Qed.
Lemma launches_app xs ys : launches (xs ++ ys) = launches xs ++ launches ys.
Proof. apply flat_map_app. Qed.

Lemma sound_run xs s : steps g (empty g) xs s -> (forall o, In o (launches xs) -> P o) -> sound g P (launches xs) s.
Proof.
  revert xs s. apply (in_steps (fun xs s => (forall o, In o (launches xs) -> P o) -> sound g P (launches xs) s)).
  - intros _. split; [apply usage_empty|apply kept_empty|apply in_order_empty|apply everywhere_empty|intros o []|].
    intros k o m Z. destruct k; discriminate Z.
  - intros xs s x t _ H IH Ps. rewrite launches_app in *. simpl in *. rewrite app_nil_r in *.
    apply (sound_step g P _ s x t); [apply IH|exact H|]; intros o I; apply Ps, in_app_iff; tauto.
Qed.

(* If nothing of the upper streams is left at [from] that was launched before, and what is launched by [F] is no more
   than is served by then, all of the stream is over by [F] that was launched by then. *)
Theorem over_by_weight : forall (good : list operation -> Prop),
  (forall l k, good (l ++ k) -> good l) -> (forall l o, good l -> In o l -> P o) ->
  (forall xs s, steps g (empty g) xs s -> good (launches xs) -> from <= now s ->
    everywhere (fun o => upper o = true -> from <= launched_at o) s) ->
  0 < one -> forall F, from <= F ->
  (forall l, good l -> (forall o, In o l -> launched_at o <= F) ->
    one * fold_left in_turn l 0 + work_since l <= one * F) ->
  forall xs s, steps g (empty g) xs s -> good (launches xs) -> F < now s ->
  everywhere (fun o => stream o = q -> F < launched_at o) s.
Proof.
  intros good Prefix Ps Idle Pos F FF Served.
  enough (Z : forall xs s, steps g (empty g) xs s -> good (launches xs) ->
    (from <= now s -> now s <= F -> on_time (launches xs) s) /\
    (F < now s -> everywhere (fun o => stream o = q -> F < launched_at o) s)) by (intros xs s H G; apply (Z xs s H G)).
  apply (in_steps (fun xs s => good (launches xs) ->
    (from <= now s -> now s <= F -> on_time (launches xs) s) /\
    (F < now s -> everywhere (fun o => stream o = q -> F < launched_at o) s))).
  - intros _. split; [|intros _; apply everywhere_empty]. intros _ _.
    rewrite <- (app_nil_r (launches [])). split; [|left; apply everywhere_empty].
    rewrite nothing_remains by apply everywhere_empty. apply Nat.le_0_l.
  - intros xs s x t St H IH G. assert (St' := one_more_step _ _ _ _ _ St H).
    rewrite launches_app in *. simpl in *. rewrite app_nil_r in *.
    assert (G0 := Prefix _ _ G). destruct (IH G0) as [V W].
    assert (S := sound_run xs s St (fun o => Ps _ o G0)). assert (N := no_time_back g s x t H).
    (* Where the instant is the first from [from] on, nothing of the upper streams is left. *)
    assert (Begins : now s < from -> from <= now t -> everywhere (fun o => upper o = false) t).
    { intros Lt Ge. assert (Id := Idle (xs ++ [x]) t St'). rewrite launches_app in Id. simpl in Id.
      rewrite app_nil_r in Id. specialize (Id G Ge).
      assert (Early : everywhere (fun o => launched_at o <= now s) s).
      { assert (E : forall ys u, steps g (empty g) ys u -> everywhere (fun o => launched_at o <= now u) u).
        { apply (in_steps (fun _ u => everywhere (fun o => launched_at o <= now u) u)); [apply everywhere_empty|].
          intros ys u y w _ Hy E. assert (M := no_time_back g u y w Hy). eapply everywhere_step; [|exact Hy|].
          - eapply everywhere_weaker; [|exact E]. simpl. intros o. lia.
          - intros o ->. destruct (launched_now g u _ w o Hy (or_introl eq_refl)) as (_ & -> & ->). lia. }
        apply (E xs s St). }
      assert (Early' : everywhere (fun o => launched_at o < from) t).
      { eapply everywhere_step; [|exact H|].
        - eapply everywhere_weaker; [|exact Early]. simpl. intros o. lia.
        - intros o ->. destruct (launched_now g s _ t o H (or_introl eq_refl)) as (_ & _ & Z). lia. }
      destruct Id as [I1 I2 I3 I4], Early' as [E1 E2 E3 E4]. split.
      - intros q' k o A1 A2. specialize (I1 _ _ _ A1 A2). specialize (E1 _ _ _ A1 A2).
        destruct (upper o); [specialize (I1 eq_refl); lia|reflexivity].
      - intros q' k o A1 A2. specialize (I2 _ _ _ A1 A2). specialize (E2 _ _ _ A1 A2).
        destruct (upper (fst o)); [specialize (I2 eq_refl); lia|reflexivity].
      - intros q' k o A1 A2. specialize (I3 _ _ _ A1 A2). specialize (E3 _ _ _ A1 A2).
        destruct (upper o); [specialize (I3 eq_refl); lia|reflexivity].
      - intros r A1. specialize (I4 _ A1). specialize (E4 _ A1).
        destruct (upper (of r)); [specialize (I4 eq_refl); lia|reflexivity]. }
    assert (Not : forall u, everywhere (fun o => upper o = false) u -> everywhere (fun o => stream o <> q) u).
    { intros u. apply everywhere_weaker. intros o Z Sq. unfold serial.upper in Z. rewrite Sq in Z.
      assert (Y := alone_upper A). apply Nat.ltb_ge in Z. lia. }
    assert (Next : from <= now t -> now s <= F -> on_time (launches xs ++ launch x) t).
    { intros Ge Le. destruct (Nat.le_gt_cases from (now s)) as [L|L].
      - apply (on_time_step _ s x t S L H (V L Le)).
      - specialize (Begins L Ge). split; [rewrite (nothing_remains t Begins); apply Nat.le_0_l|left; apply Not, Begins]. }
    split; [intros Ge Le; apply Next; lia|]. intros Gt.
    destruct (Nat.le_gt_cases (now s) F) as [L|L].
    + destruct (Next ltac:(lia) L) as [_ [E|(v & _ & Z)]]; [eapply everywhere_weaker; [|exact E]; simpl; tauto|].
      exfalso. assert (Sv := Served _ G).
      assert (Le : one * fold_left in_turn (launches xs ++ launch x) 0 + work_since (launches xs ++ launch x) <= one * F).
      { apply Sv. intros o I. apply in_app_iff in I. destruct I as [I|I]; [assert (Y := sound_past _ _ _ _ S o I); lia|].
        destruct (launched_now g s x t o H I) as (_ & Y & _). lia. }
      assert (one * (F + 1) <= one * (now t + v + ahead t)) by (apply Nat.mul_le_mono_l; lia). nia.
    + eapply everywhere_step; [exact (W L)|exact H|]. intros o Z _.
      destruct (launched_now g s x t o H) as (_ & -> & _); [rewrite Z; left; reflexivity|exact L].
Qed.
End Shared.
