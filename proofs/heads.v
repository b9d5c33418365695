(* How long an operation that has gone on takes beside what keeps it out: what it waits behind blocks of lower priorities
   for, and its last block, whose own weight is set against it. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model executable follows lists usage merged sustainable queues progress next serial busy shared.

Section Heads.
Variables (g : device) (top : nat) (blocks : nat -> nat) (P : operation -> Prop).
Hypothesis C : closed g top blocks P.
Local Notation upper := (upper g top).
Local Notation level_of := (level_of g top).
Variables (weight : operation -> nat) (one : nat).
Hypothesis Heavy : heavy g top P weight one.
Local Notation remains := (remains g top weight).
Local Notation weighs := (weighs g top weight).

(* In parts of [one] for each ns: an operation's last block, of which its own weight is done meanwhile; and with it one
   block of a lower priority. *)
Definition last_block (o : operation) : nat := (one - weight o) * worst_of o.
Definition own (o : operation) : nat :=
  match what o with Kernel _ _ _ => one * blocks (pred top) + last_block o | _ => last_block o end.
(* What has gone on is over within [c], but for what keeps it out. *)
Definition within_cost (s : state) (o : operation) (c : nat) : Prop :=
  (forall l k n, nth_error (ee s) l = Some k -> In (o, n) k -> exists B, one * B + last_block o <= c /\
    forall r, In r (running s) -> is_block r = true -> top <= level_of (stream (of r)) -> ends r <= now s + B) /\
  (forall e k, nth_error (ce s) e = Some k -> In o k -> last_block o <= c) /\
  (exists v, (one - weight o) * v <= c /\ forall r, In r (running s) -> of r = o -> ends r <= now s + v).

Lemma cost_step s x t o c : usage g s -> kept g s -> step g s x t -> (forall u, x <> Until u) -> at_head s o ->
  upper o = true -> within_cost s o c -> within_cost t o c.
Proof.
  intros U K H N A Up (V1 & V2 & (v & V3 & V4)). assert (K' := kept_step g s x t K H).
  assert (Calm : now t = now s -> (forall r, In r (running t) -> In r (running s)) ->
    (forall l k n, nth_error (ee t) l = Some k -> In (o, n) k ->
      exists l' k' n', nth_error (ee s) l' = Some k' /\ In (o, n') k') ->
    (forall e k, nth_error (ce t) e = Some k -> In o k -> exists e' k', nth_error (ce s) e' = Some k' /\ In o k') ->
    within_cost t o c).
  { intros Nt R E1 E2. split; [|split].
    - intros l k n E I. destruct (E1 l k n E I) as (l' & k' & n' & E' & I'). destruct (V1 l' k' n' E' I') as (B & L & W).
      exists B. split; [exact L|]. intros r J. rewrite Nt. apply W, R, J.
    - intros e k E I. destruct (E2 e k E I) as (e' & k' & E' & I'). apply (V2 e' k' E' I').
    - exists v. split; [exact V3|]. intros r J. rewrite Nt. apply V4, R, J. }
  assert (Apart : forall p rest, nth_error (queues s) (stream p) = Some (Queue false (p :: rest)) -> o <> p).
  { intros p rest F Z. destruct A as [m G]. rewrite Z, F in G. discriminate G. }
  assert (Same : ee t = ee s -> forall l k n, nth_error (ee t) l = Some k -> In (o, n) k ->
    exists l' k' n', nth_error (ee s) l' = Some k' /\ In (o, n') k') by (intros ->; eauto).
  assert (Same' : ce t = ce s -> forall e k, nth_error (ce t) e = Some k -> In o k ->
    exists e' k', nth_error (ce s) e' = Some k' /\ In o k') by (intros ->; eauto).
  destruct H;
    try match goal with F : first_ready _ _ _ _ _ |- _ => destruct F as [[F0 _] _] end;
    try (apply Calm; [reflexivity|simpl; tauto|apply Same; reflexivity|apply Same'; reflexivity]; fail);
    try (apply Calm; [reflexivity| |apply Same; reflexivity|apply Same'; reflexivity];
      intros b I; simpl in I; rewrite H1; apply in_app_iff in I; apply in_app_iff; simpl; tauto).
  - (* a kernel goes on *)
    apply Calm; [reflexivity|simpl; tauto| |apply Same'; reflexivity].
    intros l' k n' E I. simpl in E. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|exists l', k, n'; tauto].
    apply in_app_iff in I. destruct I as [I|[I|[]]]; [exists l, before, n'; tauto|]. injection I as Z _.
    destruct (Apart _ _ F0 (eq_sym Z)).
  - (* a copy goes on *)
    apply Calm; [reflexivity|simpl; tauto|apply Same; reflexivity|].
    intros e' k E I. simpl in E. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|exists e', k; tauto].
    apply in_app_iff in I. destruct I as [I|[I|[]]]; [exists e, before; tauto|]. destruct (Apart _ _ F0 (eq_sym I)).
  - (* a copy begins *)
    destruct H0 as [Q _]. split; [|split]; simpl.
    + intros l k n E I. destruct (V1 l k n E I) as (B & L & W). exists B. split; [exact L|]. intros r J Bl.
      apply in_app_iff in J. destruct J as [J|[<-|[]]]; [apply (W r J Bl)|discriminate Bl].
    + intros e' k E I. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|apply (V2 e' k E' I)].
      apply (V2 _ _ Q). right. exact I.
    + destruct (Nat.eq_dec (stream o0) (stream o)) as [Y|Y].
      * assert (X : o0 = o).
        { destruct (kept_ce K _ _ _ Q (or_introl eq_refl)) as ([m1 G1] & _), A as [m2 G2]. rewrite Y in G1. congruence. }
        subst o0. exists (worst_of o). split; [apply (V2 _ _ Q (or_introl eq_refl))|].
        intros r J E. assert (S := kept_short K' r J). simpl in S. rewrite E in S. exact S.
      * exists v. split; [exact V3|]. intros r J E. apply in_app_iff in J. destruct J as [J|[<-|[]]]; [apply (V4 r J E)|].
        simpl in E. congruence.
  - (* a block is assigned *)
    destruct H1 as [Q Low].
    assert (Old : forall l' k n', nth_error (update l (G3 o0 n rest) (ee s)) l' = Some k -> In (o, n') k ->
      exists k' n'', nth_error (ee s) l' = Some k' /\ In (o, n'') k').
    { intros l' k n' E I. destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[_ E']]; [|exists k, n'; tauto].
      exists ((o0, S n) :: rest). destruct n as [|n]; simpl in I |- *.
      - exists n'. tauto.
      - destruct I as [I|I]; [injection I as <- _; exists (S (S n)); tauto|exists n'; tauto]. }
    split; [|split]; simpl.
    + intros l' k n' E I. destruct (Old _ _ _ E I) as (k' & n'' & E' & I').
      destruct (V1 _ _ _ E' I') as (B & L & W). exists B. split; [exact L|].
      intros r J Bl Lo. apply in_app_iff in J. destruct J as [J|[<-|[]]]; [apply (W r J Bl Lo)|]. exfalso. simpl in Lo.
      destruct (serial.kept_ee g top s K _ _ _ Q (or_introl eq_refl)) as (_ & Lv & _). simpl in Lv.
      destruct (serial.kept_ee g top s K _ _ _ E' I') as (_ & Lp & _). simpl in Lp.
      unfold serial.upper in Up. apply Nat.ltb_lt in Up. rewrite Lv in Lo.
      rewrite (Low l' ltac:(lia)) in E'. injection E' as <-. destruct I'.
    + exact V2.
    + destruct (Nat.eq_dec (stream o0) (stream o)) as [Y|Y].
      * assert (X : o0 = o).
        { destruct (queues.kept_ee g s K _ _ _ Q (or_introl eq_refl)) as ([m1 G1] & _), A as [m2 G2]. simpl in G1.
          rewrite Y in G1. congruence. }
        subst o0. exists (worst_of o). split.
        { destruct (V1 _ _ _ Q (or_introl eq_refl)) as (B & L & _). unfold last_block in L. lia. }
        { intros r J E. assert (S := kept_short K' r J). simpl in S. rewrite E in S. exact S. }
      * exists v. split; [exact V3|]. intros r J E. apply in_app_iff in J. destruct J as [J|[<-|[]]]; [apply (V4 r J E)|].
        simpl in E. congruence.
  - destruct (N t eq_refl).
Qed.

(* It goes on. *)
Lemma cost_begins s o t : usage g s -> kept g s -> everywhere P s -> step g s (GoOn o) t -> upper o = true ->
  within_cost t o (own o).
Proof.
  intros U K Ps H Up.
  assert (Gone : forall rest, nth_error (queues s) (stream o) = Some (Queue false (o :: rest)) ->
    (forall r, In r (running s) -> of r <> o) /\
    (forall l k n, nth_error (ee s) l = Some k -> ~ In (o, n) k) /\
    (forall e k, nth_error (ce s) e = Some k -> ~ In o k)).
  { intros rest F. repeat split.
    - intros r I E. destruct (kept_running K r I) as [m Q]. rewrite E, F in Q. discriminate Q.
    - intros l k n E I. destruct (queues.kept_ee g s K l k _ E I) as ([m Q] & _). simpl in Q. rewrite F in Q.
      discriminate Q.
    - intros e k E I. destruct (kept_ce K e k o E I) as ([m Q] & _). rewrite F in Q. discriminate Q. }
  unfold own. inversion H; subst; match goal with F : first_ready _ _ _ _ _ |- _ => destruct F as [[F0 _] _] end;
    destruct (Gone rest F0) as (G1 & G2 & G3); (split; [|split]); simpl;
    try (exists 0; split; [lia|]; intros r I E; destruct (G1 r I E)).
  - match goal with W : what o = _ |- _ => rewrite W end. intros l' k n' E I. exists (blocks (pred top)).
    split; [lia|]. intros r J Bl Lo. apply (lower_block g top blocks P C s r (pred top) U K Ps J Bl).
    unfold serial.upper in Up. apply Nat.ltb_lt in Up. lia.
  - intros e k E I. destruct (G3 e k E I).
  - intros l' k n' E I. destruct (G2 l' k n' E I).
  - match goal with W : what o = _ |- _ => rewrite W end. intros; lia.
  - intros l' k n' E I. destruct (G2 l' k n' E I).
  - intros e k E I. destruct (G3 e k E I).
Qed.

(* As time passes, it comes nearer to its end, or the work of all does. *)
Lemma cost_in_time s u h c : usage g s -> kept g s -> in_order g s -> everywhere P s ->
  no_copy_begins s -> no_block_fits g s -> now s < u -> (forall r, In r (running s) -> u <= ends r) ->
  at_head s h -> upper h = true ->
  (forall p e l m, P p -> what h = Copy e l -> what p = Copy e m -> one <= weight p) ->
  within_cost s h c -> forall t, t = State u Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s) ->
  exists c', c' <= c /\ within_cost t h c' /\ one * u + c' + remains t <= one * now s + c + remains s.
Proof.
  intros U K O Ps NC NB L Ends [rest F] Up Copies (V1 & V2 & (v & V3 & V4)) t ->.
  assert (Ph := everywhere_queues _ s Ps _ _ h F (or_introl eq_refl)).
  assert (Done := work_of_time g top weight (running s) (now s) u (Nat.lt_le_incl _ _ L) Ends).
  assert (Rem : remains (State u Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s)) +
    (u - now s) * weighs (running s) = remains s) by (unfold shared.remains; simpl; lia).
  set (t := State u Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s)) in *.
  assert (Short : forall r, In r (running s) -> of r = h -> ends r <= u + worst_of h).
  { intros r I E. assert (S := kept_short K r I). rewrite E in S. lia. }
  assert (Is : forall o, at_head s o -> number o = number h -> o = h).
  { intros o [m G] Z. assert (Q := order_apart g s O _ _ _ _ _ _ G (or_introl eq_refl) F (or_introl eq_refl) Z).
    rewrite Q, F in G. congruence. }
  assert (Uh := Up). unfold serial.upper in Uh. apply Nat.ltb_lt in Uh.
  assert (Busy : one <= weighs (running s) -> one * u + remains t <= one * now s + remains s).
  { intros W. rewrite <- Rem. assert (Z : (u - now s) * one <= (u - now s) * weighs (running s)) by nia.
    replace u with (now s + (u - now s)) at 1 by lia. nia. }
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
    destruct (V1 l k n E I) as (B & Bv & Bl).
    destruct (serial.kept_ee g top s K l k _ E I) as (_ & Lh & (hn & hneed & hlasts & Wh)). simpl in Lh, Wh.
    destruct (some_kernel_next s) as [Z|(l1 & o1 & n1 & rest1 & Hd)]; [rewrite (Z l k E) in I; destruct I|].
    assert (L1 : l1 <= l).
    { apply Nat.nlt_ge. intros Lt. rewrite (proj2 Hd l Lt) in E. injection E as <-. destruct I. }
    destruct (serial.kept_ee g top s K _ _ _ (proj1 Hd) (or_introl eq_refl)) as (_ & Lo1 & (n2 & need & lasts & W1)).
    simpl in Lo1, W1.
    assert (P1 := everywhere_ee _ s Ps _ _ _ (proj1 Hd) (or_introl eq_refl)). simpl in P1.
    destruct (Nat.le_gt_cases (u - now s) B) as [Le|Gt].
    - exists (one * (B - (u - now s)) + last_block h).
      assert (M := Nat.mul_le_mono_l (B - (u - now s)) B one ltac:(lia)). split; [lia|]. clear M. split.
      2: { replace u with (now s + (u - now s)) at 1 by lia. rewrite Nat.mul_add_distr_l.
        assert (M : one * (B - (u - now s)) + one * (u - now s) = one * B) by (rewrite <- Nat.mul_add_distr_l; f_equal; lia).
        assert (Pos := Nat.le_0_l ((u - now s) * weighs (running s))). lia. }
      split; [|split]; simpl.
      + intros l' k' n' E' I'. exists (B - (u - now s)). split; [apply le_n|]. intros r J Br Lo.
        specialize (Bl r J Br Lo). lia.
      + intros e k' E' I'. apply Nat.le_add_l.
      + exists (worst_of h). split; [apply Nat.le_add_l|]. exact Short.
    - assert (None : forall r, In r (running s) -> is_block r = true -> level_of (stream (of r)) < top).
      { intros r J Br. apply Nat.nle_gt. intros Lo. specialize (Bl r J Br Lo). specialize (Ends r J). lia. }
      exists (last_block h). split; [assert (Pos := Nat.le_0_l (one * B)); lia|]. split.
      2: { enough (one * u + remains t <= one * now s + remains s) by (assert (Pos := Nat.le_0_l (one * B)); lia).
        apply Busy. apply (Heavy s o1 n2 need lasts U Ps P1); [|exact W1| |].
        - unfold serial.upper. apply Nat.ltb_lt. lia.
        - intros i room. apply (NB _ _ _ _ _ _ _ i room Hd W1).
        - intros r J Br. specialize (None r J Br). unfold serial.upper. apply Nat.ltb_lt. lia. }
      split; [|split]; simpl.
      + intros l' k' n' E' I'. exists 0. split; [lia|]. intros r J Br Lo. specialize (None r J Br). lia.
      + intros e k' E' I'. apply le_n.
      + exists (worst_of h). split; [unfold last_block; lia|]. exact Short. }
  destruct (order_somewhere g s O _ h rest F) as [(r & I & N)|[(l & k & x & E & I & N)|(e & k & p & E & I & N)]].
  2: { exfalso. assert (Hx := Is _ (proj1 (queues.kept_ee g s K l k x E I)) N). destruct x as [o n]. simpl in Hx. subst o.
    apply (Out l k n E I). }
  2: { (* in its CE queue *)
    assert (Hx := Is _ (proj1 (kept_ce K e k p E I)) N). subst p. destruct (kept_ce K e k h E I) as (_ & Not & (la & Wh)).
    assert (Lc := V2 e k E I).
    destruct k as [|h' more]; [destruct I|].
    destruct (existsb (fun r => place_eqb (on r) (Engine e)) (running s)) eqn:X.
    2: { exfalso. apply (NC e h' more). split; [exact E|]. intros r J On.
      assert (Z : existsb (fun r => place_eqb (on r) (Engine e)) (running s) = true); [|congruence].
      apply existsb_exists. exists r. split; [exact J|]. rewrite On. simpl. apply Nat.eqb_refl. }
    apply existsb_exists in X. destruct X as (r & J & On).
    assert (On' : on r = Engine e).
    { destruct (on r) as [i|e']; simpl in On; [discriminate On|]. apply Nat.eqb_eq in On. congruence. }
    destruct (kept_copy K r e J On') as [la' Wr]. assert (Pr := everywhere_running _ s Ps r J).
    assert (Ur := closed_engine _ _ _ _ C h (of r) e la la' Ph Pr Up Wh Wr).
    assert (Wt := Copies (of r) e la la' Pr Wh Wr).
    exists (last_block h). split; [exact Lc|]. split.
    2: { enough (one * u + remains t <= one * now s + remains s) by lia.
      apply Busy. assert (Z := one_weighs g top weight r (running s) J). unfold serial.of_upper in Z. rewrite Ur in Z. lia. }
    split; [|split]; simpl.
    - intros l' k' n' E' I'. destruct (Out l' k' n' E' I').
    - intros; lia.
    - exists (worst_of h). split; [unfold last_block; lia|]. exact Short. }
  (* all of it has begun *)
  assert (Hr := Is _ (kept_running K r I) N).
  assert (Lr := V4 r I Hr). assert (Lu := Ends r I).
  assert (Wr := one_weighs g top weight r (running s) I). unfold serial.of_upper in Wr. rewrite Hr, Up in Wr.
  exists ((one - weight h) * (v - (u - now s))).
  split; [eapply Nat.le_trans; [apply Nat.mul_le_mono_l, Nat.le_sub_l|exact V3]|]. split.
  2: { assert (M : (one - weight h) * (v - (u - now s)) + (one - weight h) * (u - now s) <= c).
    { rewrite <- Nat.mul_add_distr_l. replace (v - (u - now s) + (u - now s)) with v by lia. exact V3. }
    assert (M2 : one * (u - now s) <= (one - weight h) * (u - now s) + weight h * (u - now s)).
    { rewrite <- Nat.mul_add_distr_r. apply Nat.mul_le_mono_r. lia. }
    assert (M3 : weight h * (u - now s) <= (u - now s) * weighs (running s)) by nia.
    replace u with (now s + (u - now s)) at 1 by lia. rewrite Nat.mul_add_distr_l. lia. }
  split; [|split]; simpl.
  - intros l k n E J. destruct (Out l k n E J).
  - intros e k E J. destruct (kept_ce K e k h E J) as (_ & Not & _). destruct (Not r I Hr).
  - exists (v - (u - now s)). split; [lia|]. intros b J E. specialize (V4 b J E). lia.
Qed.
(* Later it is no further from its end. *)
Lemma cost_later s u o c t : now s <= u ->
  t = State u Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s) ->
  within_cost s o c -> within_cost t o c.
Proof.
  intros L -> (V1 & V2 & (v & V3 & V4)). split; [|split]; simpl.
  - intros l k n E I. destruct (V1 l k n E I) as (B & Lb & W). exists B. split; [exact Lb|].
    intros r J Br Lo. specialize (W r J Br Lo). lia.
  - exact V2.
  - exists v. split; [exact V3|]. intros r J E. specialize (V4 r J E). lia.
Qed.
End Heads.
