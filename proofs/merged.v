(* When merging the SMs is exact: docs/analysis.md, section 2, for every run of the rules. *)
From Coq Require Import List Arith Lia.
Import ListNotations.
From gpusched Require Import model lists usage.

(* What nobody can see who does not look at SMs. *)
Definition erase_place (p : place) : place := match p with Sm _ => Sm 0 | Engine e => Engine e end.
Definition erase_run (r : run) : run := Run (of r) (erase_place (on r)) (ends r).
Definition erase (x : label) : label :=
  match x with Assign o _ d => Assign o 0 d | End o p => End o (erase_place p) | _ => x end.

(* All that the rules leave open but the SMs, as functions of all that has happened so far (the SMs erased): what the
   host
   launches next at this instant, if anything; how long the block or copy runs that begins; until when it sleeps. So
   hosts may wait for completions, and later blocks may be longer because earlier ones were. *)
Record environment := Environment {
  launches : list label -> option operation;
  lasts_for : list label -> nat;
  sleeps_until : list label -> nat
}.
Definition obeys (v : environment) (h : list label) (s : state) (x : label) : Prop :=
  match x with
  | Launch o => launches v h = Some o
  | DispatchTurn => launches v h = None
  | Begin _ d | Assign _ _ d => lasts_for v h = d
  | Until t => t = sleeps_until v h \/ (t < sleeps_until v h /\ exists r, In r (running s) /\ ends r = t)
  | _ => True
  end.
(* The steps [xs] lead from [s], before which [h] happened, to [t]. *)
Inductive run_under (g : device) (v : environment) : list label -> state -> list label -> state -> Prop :=
| Under_stop h s : run_under g v h s [] s
| Under_go h s x t xs u :
    step g s x t -> obeys v h s x -> run_under g v (h ++ [erase x]) t xs u -> run_under g v h s (x :: xs) u.

(* An SM of capacity [cap] holds [c] blocks that need [need] each, and no more. *)
Definition holds (need cap : resources) (c : nat) : Prop := forall k, fits (scale k need) cap <-> k <= c.

Definition needs (need : resources) (o : operation) : Prop :=
  forall blocks n lasts, what o = Kernel blocks n lasts -> n = need.

(* How many blocks run on SM [i]; and on all. *)
Definition count (i : nat) (l : list run) : nat := length (filter (on_sm i) l).
Definition blocks_on (l : list run) : nat := length (filter is_block l).

Lemma used_count need i l :
  (forall r, In r l -> needs need (of r)) ->
  (forall r j, In r l -> on r = Sm j -> exists b n la, what (of r) = Kernel b n la) ->
  used i l = scale (count i l) need.
Proof.
  unfold count. induction l as [|r l IH]; intros N K; simpl; [reflexivity|].
  assert (IH' := IH (fun x I => N x (or_intror I)) (fun x j I => K x j (or_intror I))).
  destruct (on_sm i r) eqn:O; [|exact IH']. simpl. rewrite IH'. f_equal.
  unfold on_sm in O. destruct (on r) as [j|] eqn:P; [|discriminate O].
  destruct (K r j (or_introl eq_refl) P) as (b & n & la & W). unfold need_of. rewrite W.
  apply (N r (or_introl eq_refl) b n la W).
Qed.

Lemma sum_counts m l :
  (forall r i, In r l -> on r = Sm i -> i < m) -> sum (map (fun i => count i l) (seq 0 m)) = blocks_on l.
Proof.
  unfold blocks_on. induction l as [|r l IH]; intros B.
  - unfold count. simpl. induction (seq 0 m); simpl; congruence.
  - assert (IH' := IH (fun x i I => B x i (or_intror I))). cbn [filter].
    destruct (on r) as [j|e] eqn:O.
    + assert (R : is_block r = true) by (unfold is_block; rewrite O; reflexivity). rewrite R. cbn [length].
      rewrite <- IH'. assert (J := B r j (or_introl eq_refl) O).
      assert (G : forall a k, sum (map (fun i => count i (r :: l)) (seq a k))
        = (if andb (a <=? j) (j <? a + k) then 1 else 0) + sum (map (fun i => count i l) (seq a k))).
      { assert (One : forall i, count i (r :: l) = (if i =? j then 1 else 0) + count i l).
        { intros i. unfold count. simpl. unfold on_sm at 1. rewrite O. destruct (i =? j); reflexivity. }
        intros a k. revert a. induction k as [|k IHk]; intros a; cbn [seq map sum fold_right].
        - destruct (Nat.leb_spec a j), (Nat.ltb_spec j (a + 0)); simpl; lia.
        - change (fold_right Nat.add 0) with sum. rewrite IHk, One.
          destruct (Nat.eqb_spec a j), (Nat.leb_spec a j), (Nat.leb_spec (S a) j), (Nat.ltb_spec j (a + S k)),
            (Nat.ltb_spec j (S a + k)); cbn [andb]; lia. }
      rewrite G. destruct (Nat.leb_spec 0 j), (Nat.ltb_spec j (0 + m)); cbn [andb]; lia.
    + assert (R : is_block r = false) by (unfold is_block; rewrite O; reflexivity). rewrite R.
      rewrite <- IH'. f_equal. apply map_ext. intros i. unfold count. simpl. unfold on_sm at 1. rewrite O. reflexivity.
Qed.

(* Some SM has room if and only if fewer blocks run than all hold. *)
Lemma room_iff need g s c :
  usage g s -> everywhere (needs need) s -> Forall2 (holds need) (sms g) c ->
  ((exists i room, R1 s need i room) <-> blocks_on (running s) < sum c).
Proof.
  intros U Q H.
  assert (K : forall i cap ci, nth_error (sms g) i = Some cap -> nth_error c i = Some ci -> holds need cap ci).
  { clear - H. induction H; intros [|i] cap ci E F; simpl in *; try discriminate E.
    - injection E as <-. injection F as <-. assumption.
    - eapply IHForall2; eassumption. }
  assert (LC : length (sms g) = length c) by (clear - H; induction H; simpl; congruence).
  assert (V : forall i room cap, nth_error (free s) i = Some room -> nth_error (sms g) i = Some cap ->
    plus room (scale (count i (running s)) need) = cap).
  { intros i room cap E C. rewrite <- (usage_free g s U i room cap E C). f_equal. symmetry. apply used_count.
    - apply (everywhere_running _ s Q).
    - intros r j I O. apply (usage_places g s U r j I O). }
  assert (P : forall i, i < length c -> exists room cap ci,
    nth_error (free s) i = Some room /\ nth_error (sms g) i = Some cap /\ nth_error c i = Some ci).
  { intros i L. assert (LF := usage_sms g s U).
    destruct (nth_error (free s) i) as [room|] eqn:E1; [|apply nth_error_None in E1; lia].
    destruct (nth_error (sms g) i) as [cap|] eqn:E2; [|apply nth_error_None in E2; lia].
    destruct (nth_error c i) as [ci|] eqn:E3; [|apply nth_error_None in E3; lia].
    exists room, cap, ci. tauto. }
  rewrite <- (sum_counts (length c)).
  2:{ intros r i I O. rewrite <- LC. apply (usage_places g s U r i I O). }
  set (ks := map (fun i => count i (running s)) (seq 0 (length c))).
  assert (N : forall i k, nth_error ks i = Some k -> i < length c /\ k = count i (running s)).
  { intros i k E. assert (L : i < length c).
    { rewrite <- (seq_length (length c) 0), <- (map_length (fun i => count i (running s))). apply nth_error_Some.
      unfold ks in E. congruence. }
    split; [exact L|]. unfold ks in E. rewrite nth_error_map in E.
    rewrite (nth_error_nth' _ 0) in E by (rewrite seq_length; exact L). rewrite seq_nth in E by exact L.
    simpl in E. congruence. }
  assert (N' : forall i, i < length c -> nth_error ks i = Some (count i (running s))).
  { intros i L. destruct (nth_error ks i) as [k|] eqn:E; [destruct (N i k E) as [_ ->]; reflexivity|].
    apply nth_error_None in E. unfold ks in E. rewrite map_length, seq_length in E. lia. }
  rewrite some_less.
  - split.
    + intros (i & room & E & F). assert (L : i < length c).
      { rewrite <- LC, <- (usage_sms g s U). apply nth_error_Some. congruence. }
      destruct (P i L) as (room' & cap & ci & E1 & E2 & E3). rewrite E in E1. injection E1 as <-.
      exists i, (count i (running s)), ci. repeat split; [apply (N' i L)|exact E3|].
      apply (K i cap ci E2 E3 (S (count i (running s)))). assert (V' := V i room cap E E2).
      unfold fits, R2, R3, Registers in *. simpl. parts. lia.
    + intros (i & k & ci & E & E3 & Lt). destruct (N i k E) as [L ->].
      destruct (P i L) as (room & cap & ci' & E1 & E2 & E3'). rewrite E3 in E3'. injection E3' as <-.
      exists i, room. split; [exact E1|]. assert (F := proj2 (K i cap ci E2 E3 (S (count i (running s)))) Lt).
      assert (V' := V i room cap E1 E2). unfold fits, R2, R3, Registers in *. simpl in F. parts. lia.
  - assert (LK : length ks = length c) by (unfold ks; rewrite map_length; apply seq_length).
    assert (M : forall i k ci, nth_error ks i = Some k -> nth_error c i = Some ci -> k <= ci).
    { intros i k ci E E3. destruct (N i k E) as [L ->].
      destruct (P i L) as (room & cap & ci' & E1 & E2 & E3'). rewrite E3 in E3'. injection E3' as <-.
      apply (K i cap ci E2 E3). assert (V' := V i room cap E1 E2).
      unfold fits, R2, R3, Registers. parts. lia. }
    clearbody ks. clear - LK M. revert c LK M. induction ks as [|k ks IH]; intros [|ci c] LK M; try discriminate LK;
      constructor.
    + apply (M 0 k ci eq_refl eq_refl).
    + apply IH; [simpl in LK; congruence|]. intros i. apply (M (S i)).
Qed.

(* Two states that only differ in SMs. *)
Inductive alike : state -> state -> Prop :=
| Alike n p k q e c r1 r2 f1 f2 :
    map erase_run r1 = map erase_run r2 -> alike (State n p k q e c r1 f1) (State n p k q e c r2 f2).

Lemma erased_in r1 r2 x :
  map erase_run r1 = map erase_run r2 -> In x r1 -> exists y, In y r2 /\ erase_run y = erase_run x.
Proof.
  intros E I. assert (J : In (erase_run x) (map erase_run r1)) by (apply in_map; exact I).
  rewrite E in J. apply in_map_iff in J. destruct J as (y & F & K). exists y. tauto.
Qed.

(* What ends first is the same in both. *)
Lemma first_end_alike t : forall b1 r1 a1 b2 r2 a2,
  map erase_run (b1 ++ r1 :: a1) = map erase_run (b2 ++ r2 :: a2) ->
  ends r1 = t -> ends r2 = t -> (forall b, In b b1 -> ends b <> t) -> (forall b, In b b2 -> ends b <> t) ->
  map erase_run b1 = map erase_run b2 /\ erase_run r1 = erase_run r2 /\ map erase_run a1 = map erase_run a2.
Proof.
  induction b1 as [|x b1 IH]; intros r1 a1 [|y b2] r2 a2 E T1 T2 N1 N2; simpl in E; injection E.
  - intros. repeat split; simpl; try assumption. unfold erase_run. congruence.
  - intros _ F _ _. exfalso. apply (N2 y); [left; reflexivity|]. congruence.
  - intros _ F _ _. exfalso. apply (N1 x); [left; reflexivity|]. congruence.
  - intros E' F1 F2 F3.
    destruct (IH r1 a1 b2 r2 a2 E' T1 T2 (fun b I => N1 b (or_intror I)) (fun b I => N2 b (or_intror I))) as (A & B &
      C).
    repeat split; try assumption. simpl. rewrite A. f_equal. unfold erase_run. congruence.
Qed.

Section Alike.
Variables (s1 s2 : state).
Hypothesis like : alike s1 s2.

Lemma alike_begins e o rest : may_begin s1 e o rest -> may_begin s2 e o rest.
Proof.
  destruct like as [n p k q ee' c r1 r2 f1 f2 E]. intros [H I]. split; [exact H|]. intros r J O. simpl in J.
  destruct (erased_in _ _ _ (eq_sym E) J) as (y & K & F). apply (I y K).
  assert (G := f_equal on F). simpl in G. rewrite O in G. destruct (on y); [discriminate G|exact G].
Qed.
Lemma alike_ends r : In r (running s1) -> exists r', In r' (running s2) /\ ends r' = ends r.
Proof.
  destruct like as [n p k q ee' c r1 r2 f1 f2 E]. intros I. simpl in I.
  destruct (erased_in _ _ _ E I) as (y & K & F). exists y. split; [exact K|]. apply (f_equal ends F).
Qed.
End Alike.

Lemma alike_sym s1 s2 : alike s1 s2 -> alike s2 s1.
Proof. intros [? ? ? ? ? ? ? ? ? ? E]. constructor. symmetry. exact E. Qed.

Lemma alike_blocks s1 s2 : alike s1 s2 -> blocks_on (running s1) = blocks_on (running s2).
Proof.
  intros [n p k q e c r1 r2 f1 f2 E]. simpl. unfold blocks_on. revert r2 E.
  induction r1 as [|x r1 IH]; intros [|y r2] E; try discriminate E; [reflexivity|].
  simpl in E. injection E. intros E' _ F _. simpl. specialize (IH r2 E'). unfold is_block in *.
  destruct (on x), (on y); simpl in *; try discriminate F; congruence.
Qed.

Lemma alike_over n p k q e c r1 r2 f1 f2 o l1 l2 :
  map erase_run l1 = map erase_run l2 ->
  over (State n p k q e c r1 f1) o l1 -> over (State n p k q e c r2 f2) o l2.
Proof.
  intros E [H K]. split; [|exact K]. intros r I.
  destruct (erased_in _ _ _ (eq_sym E) I) as (y & J & F). assert (G := f_equal of F). simpl in G.
  rewrite <- G. apply (H y J).
Qed.

Lemma only_launched need s :
  everywhere (needs need) s -> forall l o n rest, next_kernel s l o n rest -> needs need o.
Proof. intros [_ E _ _] l o n rest [F _]. apply (E l _ (o, n) F). left. reflexivity. Qed.

(* Two of which each is the first that may go on are one. *)
Lemma first_ready_unique g s q o rest q' o' rest' :
  first_ready g s q o rest -> first_ready g s q' o' rest' -> q' = q /\ o' = o /\ rest' = rest.
Proof.
  intros [R F] [R' F']. destruct (Nat.eq_dec q' q) as [->|N].
  - destruct R as [R _], R' as [R' _]. rewrite R in R'. injection R' as <- <-. tauto.
  - assert (A := F _ _ _ R' N). assert (B := F' _ _ _ R (not_eq_sym N)). lia.
Qed.
Lemma next_kernel_unique s l o n rest l' o' n' rest' :
  next_kernel s l o n rest -> next_kernel s l' o' n' rest' -> l' = l /\ o' = o /\ n' = n /\ rest' = rest.
Proof.
  intros [E F] [E' F']. destruct (Nat.lt_trichotomy l l') as [N|[<-|N]].
  - rewrite (F' l N) in E. discriminate E.
  - rewrite E in E'. injection E' as <- <- <-. tauto.
  - rewrite (F l' N) in E'. discriminate E'.
Qed.

(* What excludes that different rules apply to alike states. *)
Ltac excluded D1 N1' Room B12 B21 E12 E21 := exfalso; try discriminate; try congruence; match goal with
  | A : all_went_on _ _, F : first_ready _ _ _ _ _ |- _ => exact (A _ _ _ (proj1 F))
  | F : first_ready _ _ _ _ _ |- _ => exact (D1 eq_refl _ _ _ (proj1 F))
  | N : no_copy_begins _, M : may_begin _ _ _ _ |- _ =>
      first [exact (N _ _ _ (B12 _ _ _ M)) | exact (N _ _ _ (B21 _ _ _ M))]
  | N : no_block_fits _ _, K : next_kernel _ _ _ _ _, W : what _ = Kernel _ ?need _, R : R1 _ ?need _ _ |- _ =>
      assert (X := N1' _ _ _ _ K _ _ _ W); subst need;
      first [destruct (proj1 Room (ex_intro _ _ (ex_intro _ _ R))) as (? & ? & R');
             refine (N _ _ _ _ _ _ _ _ _ K W _ R'); apply unmasked; reflexivity
            |destruct (proj2 Room (ex_intro _ _ (ex_intro _ _ R))) as (? & ? & R');
             refine (N _ _ _ _ _ _ _ _ _ K W _ R'); apply unmasked; reflexivity]
  | N : none_ends_now _, T : ends ?r = _, I : In ?r _ |- _ =>
      first [destruct (E12 r I) as (r' & I' & T'); exact (N r' I' (eq_trans T' T))
            |destruct (E21 r I) as (r' & I' & T'); exact (N r' I' (eq_trans T' T))]
  | N : none_ends_now _, T : ends ?r = _ |- _ =>
      first [destruct (E12 r (in_elt _ _ _)) as (r' & I' & T'); exact (N r' I' (eq_trans T' T))
            |destruct (E21 r (in_elt _ _ _)) as (r' & I' & T'); exact (N r' I' (eq_trans T' T))]
  end.

(* One step of each. *)
Lemma lockstep need v g1 g2 c1 c2 h s1 s2 x1 x2 t1 t2 :
  streams g1 = streams g2 -> masks g1 = [] -> masks g2 = [] ->
  Forall2 (holds need) (sms g1) c1 -> Forall2 (holds need) (sms g2) c2 -> sum c1 = sum c2 ->
  usage g1 s1 -> usage g2 s2 -> everywhere (needs need) s1 -> everywhere (needs need) s2 -> alike s1 s2 ->
  step g1 s1 x1 t1 -> obeys v h s1 x1 -> step g2 s2 x2 t2 -> obeys v h s2 x2 ->
  erase x1 = erase x2 /\ alike t1 t2.
Proof.
  intros G M1 M2 C1 C2 Sum U1 U2 Q1 Q2 L.
  assert (Room : (exists i room, R1 s1 need i room) <-> (exists i room, R1 s2 need i room)).
  { rewrite (room_iff need g1 s1 c1 U1 Q1 C1), (room_iff need g2 s2 c2 U2 Q2 C2), (alike_blocks s1 s2 L), Sum.
    reflexivity. }
  assert (B12 := alike_begins s1 s2 L). assert (B21 := alike_begins s2 s1 (alike_sym _ _ L)).
  assert (E12 := alike_ends s1 s2 L). assert (E21 := alike_ends s2 s1 (alike_sym _ _ L)).
  assert (D1 := usage_dispatch g1 s1 U1). assert (N1' := only_launched need s1 Q1). clear U1 U2 Q1 Q2 C1 C2.
  destruct g1 as [m1 e1 l1 st1 ma1], g2 as [m2 e2 l2 st2 ma2]. simpl in G, M1, M2. subst st2 ma1 ma2.
  destruct L as [n p k q e c r1 r2 f1 f2 E].
  intros H1 O1 H2 O2.
  inversion H1; subst; inversion H2; subst; simpl in *; try discriminate; try congruence; try subst p;
    try subst r1; try subst r2; try discriminate.
  all: try (excluded D1 N1' Room B12 B21 E12 E21).
  all: try (split; [reflexivity|constructor; exact E]).
  all: try match goal with
    | F : first_ready _ _ _ _ _, F' : first_ready _ _ _ _ _ |- GoOn ?o = GoOn ?o' /\ _ =>
        match type of F with first_ready _ _ _ o _ => match type of F' with first_ready _ _ _ o' _ =>
          destruct (first_ready_unique _ _ _ _ _ _ _ _ F F') as (-> & -> & ->) end end
    end.
  all: try match goal with
    | H : ends ?r = _, H' : ends ?r' = _ |- End (of ?r) _ = End (of ?r') _ /\ _ =>
        destruct (first_end_alike _ _ _ _ _ _ _ E H H') as (A & B & C); [assumption|assumption|];
        assert (Of := f_equal of B); assert (On := f_equal on B); simpl in Of, On;
        assert (Still : forall b b' a a', map erase_run b = map erase_run b' -> map erase_run a = map erase_run a' ->
          map erase_run (b ++ a) = map erase_run (b' ++ a')) by (intros; rewrite !map_app; congruence)
    end.
  - (* both take it out of its stream's queue *)
    split; [congruence|]. rewrite <- Of in *.
    match goal with H : nth_error q _ = Some (Queue _ (_ :: ?x)), H' : nth_error q _ = Some (Queue _ (_ :: ?y)) |- alike
      (State _ _ _ (update _ (Queue _ ?x) _) _ _ _ _) (State _ _ _ (update _ (Queue _ ?y) _) _ _ _ _) =>
      rewrite H in H'; injection H' as H'; subst end.
    constructor. apply Still; assumption.
  - exfalso. rewrite <- Of in *. match goal with O : over _ _ _, N : ~ over _ _ _ |- _ =>
      apply N; eapply alike_over; [|exact O]; apply Still; [exact A|exact C] end.
  - exfalso. rewrite <- Of in *. match goal with O : over _ _ _, N : ~ over _ _ _ |- _ =>
      apply N; eapply alike_over; [|exact O]; apply Still; symmetry; [exact A|exact C] end.
  - split; [congruence|]. constructor. apply Still; assumption.
  - (* the same launch *)
    assert (o0 = o) as -> by congruence. split; [reflexivity|].
    match goal with H : nth_error q _ = Some (Queue b _), H' : nth_error q _ = Some (Queue b0 _) |- _ =>
      rewrite H in H'; injection H' as <- <- end. constructor. exact E.
  - (* the same kernel goes on *)
    split; [reflexivity|]. assert (b0 = b /\ l0 = l) as [-> ->] by (split; congruence).
    match goal with H : what _ = Kernel n0 _ _, H' : what _ = Kernel n1 _ _ |- _ => rewrite H in H'; injection H' as
      <- <- <- end.
    match goal with H : nth_error e _ = Some before, H' : nth_error e _ = Some before0 |- _ =>
      rewrite H in H'; injection H' as <- end. constructor. exact E.
  - exfalso; congruence.
  - exfalso. match goal with H : what _ = Kernel _ _ _, H' : _ \/ _ |- _ => destruct H' as [H'|[? H']]; congruence end.
  - exfalso; congruence.
  - split; [reflexivity|].
    match goal with H : what _ = Copy e0 _, H' : what _ = Copy e3 _ |- _ => rewrite H in H'; injection H' as <- <- end.
    match goal with H : nth_error c _ = Some before, H' : nth_error c _ = Some before0 |- _ =>
      rewrite H in H'; injection H' as <- end. constructor. exact E.
  - exfalso. match goal with H : what _ = Copy _ _, H' : _ \/ _ |- _ => destruct H' as [H'|[? H']]; congruence end.
  - exfalso. match goal with H : what _ = Kernel _ _ _, H' : _ \/ _ |- _ => destruct H' as [H'|[? H']]; congruence end.
  - exfalso. match goal with H : what _ = Copy _ _, H' : _ \/ _ |- _ => destruct H' as [H'|[? H']]; congruence end.
  - split; [reflexivity|]. constructor. exact E.
  - (* the same copy begins *)
    match goal with
    | M : may_begin _ e0 _ _, F : forall e' o' rest', may_begin _ e' _ _ -> e0 <= e',
      M' : may_begin _ e3 _ _, F' : forall e' o' rest', may_begin _ e' _ _ -> e3 <= e' |- _ =>
        assert (X := F _ _ _ (B21 _ _ _ M')); assert (Y := F' _ _ _ (B12 _ _ _ M));
        assert (e3 = e0) as -> by lia; destruct M as [M _], M' as [M' _]; simpl in M, M'; rewrite M in M'; injection
          M' as <- <-
    end.
    assert (d0 = d) as -> by congruence. split; [reflexivity|]. constructor. rewrite !map_app, E. reflexivity.
  - (* the same block is assigned, to whichever SM *)
    match goal with K : next_kernel _ l o _ _, K' : next_kernel _ l0 o0 _ _ |- _ =>
      destruct (next_kernel_unique _ _ _ _ _ _ _ _ _ K K') as (-> & -> & X & ->); injection X as -> end.
    assert (d0 = d) as -> by congruence. split; [reflexivity|]. constructor. rewrite !map_app, E. reflexivity.
  - (* time passes to the same instant *)
    assert (t0 = t) as ->; [|split; [reflexivity|constructor; exact E]].
    assert (T1 : forall r, In r r1 -> t <= ends r) by assumption.
    assert (T2 : forall r, In r r2 -> t0 <= ends r) by assumption.
    destruct O1 as [O1|[O1 (x & I & X)]], O2 as [O2|[O2 (y & J & Y)]].
    + congruence.
    + destruct (E21 y J) as (y' & J' & Y'). specialize (T1 y' J'). lia.
    + destruct (E12 x I) as (x' & I' & X'). specialize (T2 x' I'). lia.
    + destruct (E12 x I) as (x' & I' & X'). specialize (T2 x' I').
      destruct (E21 y J) as (y' & J' & Y'). specialize (T1 y' J'). lia.
Qed.

(* Theorem of docs/analysis.md, section 2, for all that the rules know: chains, priorities, copies, the NULL stream,
   events.
   Two GPUs whose SMs together hold equally many of the blocks, all of which need the same: as long as the two runs have
   the same environment, they are the same, SMs apart. *)
Theorem equal_blocks_exact :
  forall need g1 g2 c1 c2 v xs1 xs2 t1 t2,
  streams g1 = streams g2 -> levels g1 = levels g2 -> engines g1 = engines g2 -> masks g1 = [] -> masks g2 = [] ->
  Forall2 (holds need) (sms g1) c1 -> Forall2 (holds need) (sms g2) c2 -> sum c1 = sum c2 ->
  (forall h o, launches v h = Some o -> needs need o) ->
  run_under g1 v [] (empty g1) xs1 t1 -> run_under g2 v [] (empty g2) xs2 t2 -> length xs1 = length xs2 ->
  map erase xs1 = map erase xs2.
Proof.
  intros need g1 g2 c1 c2 v xs1 xs2 t1 t2 G GL GE M1 M2 C1 C2 Sum V.
  assert (A : alike (empty g1) (empty g2)) by (unfold empty; rewrite G, GL, GE; constructor; reflexivity).
  assert (U1 := usage_empty g1). assert (U2 := usage_empty g2).
  assert (Q1 := everywhere_empty (needs need) g1). assert (Q2 := everywhere_empty (needs need) g2).
  generalize dependent (empty g1). generalize dependent (empty g2). generalize (@nil label) as h.
  revert xs2 t1 t2. induction xs1 as [|x1 xs1 IH]; intros xs2 t1 t2 h s2 U2 Q2 s1 A U1 Q1 R1' R2' L.
  - destruct xs2; [reflexivity|discriminate L].
  - destruct xs2 as [|x2 xs2]; [discriminate L|]. inversion R1'; subst. inversion R2'; subst.
    match goal with
    | H1 : step g1 s1 x1 ?u1, H2 : step g2 s2 x2 ?u2 |- _ =>
        assert (L1 : forall o, x1 = Launch o -> needs need o) by (intros o ->; eapply V; eassumption);
        assert (L2 : forall o, x2 = Launch o -> needs need o) by (intros o ->; eapply V; eassumption);
        destruct (lockstep need v g1 g2 c1 c2 h s1 s2 x1 x2 u1 u2) as [X A']; try assumption;
        assert (U1' := usage_step g1 s1 x1 u1 U1 H1); assert (U2' := usage_step g2 s2 x2 u2 U2 H2);
        assert (Q1' := everywhere_step _ g1 s1 x1 u1 Q1 H1 L1); assert (Q2' := everywhere_step _ g2 s2 x2 u2 Q2 H2 L2)
    end.
    simpl. rewrite X in *. f_equal. simpl in L. injection L as L. eapply IH; eassumption.
Qed.

(* The merged SM: one that has what [c] blocks need. *)
Definition merged (need : resources) (c : nat) (g : device) : device :=
  Device [scale c need] (engines g) (levels g) (streams g) [].

Theorem merged_sm_exact :
  forall need g c v xs1 xs2 t1 t2,
  0 < slots need -> masks g = [] -> Forall2 (holds need) (sms g) c ->
  (forall h o, launches v h = Some o -> needs need o) ->
  run_under g v [] (empty g) xs1 t1 ->
  run_under (merged need (sum c) g) v [] (empty (merged need (sum c) g)) xs2 t2 -> length xs1 = length xs2 ->
  map erase xs1 = map erase xs2.
Proof.
  intros need g c v xs1 xs2 t1 t2 N M C V. apply (equal_blocks_exact need g (merged need (sum c) g) c [sum c] v); try
    reflexivity.
  - exact M.
  - exact C.
  - constructor; [|constructor]. intros k. unfold fits, R2, R3, Registers.
    destruct (scale_fields k need) as (-> & -> & -> & ->). destruct (scale_fields (sum c) need) as (-> & -> & -> & ->).
    split; [|intros L; repeat split; apply Nat.mul_le_mono_r; exact L].
    intros [[_ L] _]. apply Nat.mul_le_mono_pos_r in L; assumption.
  - simpl. lia.
  - exact V.
Qed.

