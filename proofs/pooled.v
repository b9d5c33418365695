(* Nothing starts, and so nothing ends, before its pooled lower bound: docs/analysis.md, section 3, for every run. *)
From Coq Require Import List Arith Lia.
Import ListNotations.
From gpusched Require Import model lists usage.

(* A block of a run, in the order in which blocks are assigned. *)
Record block := Block { kernel : operation; start : nat; length_ns : nat }.
Fixpoint assigned (t : nat) (xs : list label) : list block :=
  match xs with
  | [] => []
  | Until u :: rest => assigned u rest
  | Assign o _ d :: rest => Block o t d :: assigned t rest
  | _ :: rest => assigned t rest
  end.

Fixpoint total (l : list resources) : resources := match l with [] => nothing | r :: rest => plus r (total rest) end.
(* What blocks take at [t] if they started at the times beside them. *)
Fixpoint taken (t : nat) (l : list (nat * block)) : resources :=
  match l with
  | [] => nothing
  | (s, b) :: rest =>
      if t <? s + length_ns b then plus (need_of (kernel b)) (taken t rest) else taken t rest
  end.
(* On the pool, the next block may start at [t]: it is launched, no earlier than the one before it, and the resources
   of all
   SMs together suffice. *)
Definition may_start (pool : resources) (before : list (nat * block)) (last : nat) (b : block) (t : nat) : Prop :=
  launched_at (kernel b) <= t /\ last <= t /\ fits (plus (need_of (kernel b)) (taken t before)) pool.
(* The pooled lower bounds of blocks: each the first instant at which that block may start. *)
Inductive pooled (pool : resources) : list (nat * block) -> nat -> list block -> list nat -> Prop :=
| Pooled_nil before last : pooled pool before last [] []
| Pooled_cons before last b bs s ss :
    may_start pool before last b s -> (forall t, may_start pool before last b t -> s <= t) ->
    pooled pool (before ++ [(s, b)]) s bs ss -> pooled pool before last (b :: bs) (s :: ss).

(* One of the four resources. *)
Definition additive (m : resources -> nat) : Prop := m nothing = 0 /\ forall a b, m (plus a b) = m a + m b.
Lemma fits_parts a b : fits a b <-> forall m, In m [threads; slots; shared; registers] -> m a <= m b.
Proof.
  unfold fits, R2, R3, Registers. split.
  - intros H m [<-|[<-|[<-|[<-|[]]]]]; tauto.
  - intros H. repeat split; apply H; simpl; tauto.
Qed.
Lemma parts_additive m : In m [threads; slots; shared; registers] -> additive m.
Proof. intros [<-|[<-|[<-|[<-|[]]]]]; split; reflexivity. Qed.

(* What those blocks that run after [t] take, of all that run. *)
Definition runs_after (t : nat) (r : run) : bool := match on r with Sm _ => t <? ends r | Engine _ => false end.
Fixpoint taken_by (p : run -> bool) (l : list run) : resources :=
  match l with [] => nothing | r :: rest => if p r then plus (need_of (of r)) (taken_by p rest) else taken_by p rest
    end.

Lemma taken_by_app p l : forall k, taken_by p (l ++ k) = plus (taken_by p l) (taken_by p k).
Proof.
  induction l as [|r l IH]; intros k; simpl; [apply resources_eq; reflexivity|].
  rewrite IH. destruct (p r); [|reflexivity]. apply resources_eq; simpl; lia.
Qed.
Lemma taken_app t l : forall k, taken t (l ++ k) = plus (taken t l) (taken t k).
Proof.
  induction l as [|[s b] l IH]; intros k; simpl; [apply resources_eq; reflexivity|].
  rewrite IH. destruct (t <? s + length_ns b); [|reflexivity]. apply resources_eq; simpl; lia.
Qed.

Lemma used_total m n l : additive m ->
  (forall r i, In r l -> on r = Sm i -> i < n) -> sum (map (fun i => m (used i l)) (seq 0 n)) = m (taken_by is_block l).
Proof.
  intros [Z A]. induction l as [|r l IH]; intros B.
  - simpl. rewrite Z. induction (seq 0 n); simpl; [reflexivity|]. assumption.
  - assert (IH' := IH (fun x i I => B x i (or_intror I))). cbn [taken_by]. unfold is_block at 1.
    destruct (on r) as [j|e] eqn:O.
    + rewrite A, <- IH'. assert (J := B r j (or_introl eq_refl) O).
      assert (One : forall i, m (used i (r :: l)) = (if i =? j then m (need_of (of r)) else 0) + m (used i l)).
      { intros i. simpl. unfold on_sm. rewrite O. destruct (i =? j); [apply A|reflexivity]. }
      assert (G : forall k a, sum (map (fun i => m (used i (r :: l))) (seq a k))
        = (if andb (a <=? j) (j <? a + k) then m (need_of (of r)) else 0) + sum (map (fun i => m (used i l)) (seq a
          k))).
      { induction k as [|k IHk]; intros a; cbn [seq map sum fold_right].
        - destruct (Nat.leb_spec a j), (Nat.ltb_spec j (a + 0)); cbn [andb]; lia.
        - change (fold_right Nat.add 0) with sum. rewrite IHk, One.
          destruct (Nat.eqb_spec a j), (Nat.leb_spec a j), (Nat.leb_spec (S a) j), (Nat.ltb_spec j (a + S k)),
            (Nat.ltb_spec j (S a + k)); cbn [andb]; lia. }
      rewrite G. destruct (Nat.leb_spec 0 j), (Nat.ltb_spec j (0 + n)); cbn [andb]; lia.
    + rewrite <- IH'. f_equal. apply map_ext. intros i. simpl. unfold on_sm. rewrite O. reflexivity.
Qed.

Lemma total_sum m l : additive m -> m (total l) = sum (map m l).
Proof. intros [Z A]. induction l as [|r l IH]; simpl; [exact Z|]. rewrite A, IH. reflexivity. Qed.

(* What is free on one SM is free in the pool. *)
Lemma room_in_pool g s need i room :
  usage g s -> R1 s need i room -> fits (plus need (taken_by is_block (running s))) (total (sms g)).
Proof.
  intros [L F P _] [E R]. apply fits_parts. intros m M. assert (R' := proj1 (fits_parts need room) R m M).
  assert (Ad := parts_additive m M). rewrite (proj2 Ad), (total_sum m _ Ad).
  rewrite <- (used_total m (length (sms g)) (running s) Ad) by (intros r j I O; apply (P r j I O)).
  assert (X : forall l caps a, length l = length caps -> (forall j room' cap, nth_error l j = Some room' ->
    nth_error caps j = Some cap -> m room' + m (used (a + j) (running s)) = m cap) ->
    sum (map m l) + sum (map (fun j => m (used j (running s))) (seq a (length caps))) = sum (map m caps)).
  { induction l as [|x l IH]; intros [|cap caps] a Len H; try discriminate Len; [reflexivity|]. simpl in Len.
    injection Len as Len.
    simpl. assert (H0 := H 0 x cap eq_refl eq_refl). rewrite Nat.add_0_r in H0.
    specialize (IH caps (S a) Len). rewrite <- IH; [lia|].
    intros j room' cap' Ej Ec. specialize (H (S j) room' cap' Ej Ec). rewrite Nat.add_succ_r in H. exact H. }
  specialize (X (free s) (sms g) 0 L). simpl in X. rewrite <- X.
  - assert (Y : m room <= sum (map m (free s))); [|lia].
    clear - E. revert i E. induction (free s) as [|x l IH]; intros [|i] E; try discriminate E; simpl.
    + injection E as ->. lia.
    + specialize (IH i E). lia.
  - intros j room' cap Ej Ec. rewrite <- (proj2 Ad). f_equal. apply (F j room' cap Ej Ec).
Qed.

(* The same block, running no longer. *)
Definition shorter (b' b : block) : Prop := kernel b' = kernel b /\ length_ns b' <= length_ns b.
Definition as_run (l : list block) : list (nat * block) := map (fun b => (start b, b)) l.

(* Blocks so far, with their bounds, against those of the run and what runs now. *)
Record below (s : state) (before : list (nat * block)) (real : list block) (last : nat) : Prop := {
  below_last : last <= now s;
  below_starts : Forall2 (fun x b => fst x <= start b /\ shorter (snd x) b) before real;
  below_running : forall t, now s <= t -> taken t (as_run real) = taken_by (runs_after t) (running s)
}.

Lemma taken_earlier m t before real : additive m ->
  Forall2 (fun x b => fst x <= start b /\ shorter (snd x) b) before real ->
  m (taken t before) <= m (taken t (as_run real)).
Proof.
  intros [Z A] H. induction H as [|[s b'] b before real [S [K D]] H IH]; simpl in *; [lia|]. rewrite K.
  destruct (Nat.ltb_spec t (s + length_ns b')), (Nat.ltb_spec t (start b + length_ns b)); rewrite ?A; lia.
Qed.
Lemma runs_after_less m t l : additive m -> m (taken_by (runs_after t) l) <= m (taken_by is_block l).
Proof.
  intros [Z A]. induction l as [|r l IH]; simpl; [lia|]. unfold runs_after at 1, is_block at 1.
  destruct (on r); [|exact IH]. destruct (t <? ends r); rewrite ?A; lia.
Qed.
Lemma ended_takes_nothing t b r a :
  ends r <= t -> taken_by (runs_after t) (b ++ r :: a) = taken_by (runs_after t) (b ++ a).
Proof.
  intros L. rewrite !taken_by_app. f_equal. simpl. unfold runs_after at 1. destruct (on r); [|reflexivity].
  destruct (Nat.ltb_spec t (ends r)); [lia|reflexivity].
Qed.

(* What has room on an SM has room in the pool. *)
Definition has_room (g : device) (pool : resources) (P : operation -> Prop) : Prop :=
  forall s o blocks need lasts i room, usage g s -> everywhere P s -> P o -> what o = Kernel blocks need lasts ->
  R1 s need i room -> fits (plus need (taken_by is_block (running s))) pool.

Lemma bounds_of_shorter_blocks g pool P : has_room g pool P ->
  forall xs t bs bounds,
  steps g (empty g) xs t -> (forall o, In (Launch o) xs -> P o) -> Forall2 shorter bs (assigned 0 xs) ->
  pooled pool [] 0 bs bounds -> Forall2 (fun bound b => bound <= start b) bounds (assigned 0 xs).
Proof.
  intros Room xs t bs bounds. assert (U := usage_empty g). assert (V := everywhere_empty P g).
  assert (W := everywhere_empty (fun o => launched_at o <= now (empty g)) g).
  assert (B : below (empty g) [] [] 0) by (split; simpl; [lia|constructor|reflexivity]).
  change 0 with (now (empty g)) at 1 3. generalize dependent (empty g). generalize (@nil (nat * block)) as before.
  generalize (@nil block) as real. generalize 0 as last. revert t bs bounds.
  induction xs as [|x xs IH]; intros t bs bounds last real before s U V W B H Ps Sh P0.
  - simpl in Sh. inversion Sh; subst. inversion P0; subst. constructor.
  - inversion H; subst. rename H3 into Hs, H5 into Hr.
    assert (U' := usage_step g s x _ U Hs).
    assert (Later : now s <= now t0) by (destruct Hs; simpl; lia).
    assert (V' : everywhere P t0).
    { eapply everywhere_step; [exact V|exact Hs|]. intros o ->. apply Ps. left. reflexivity. }
    assert (W' : everywhere (fun o => launched_at o <= now t0) t0).
    { eapply everywhere_step; [|exact Hs|].
      - eapply everywhere_weaker; [|exact W]. simpl. intros o L. lia.
      - intros o ->. inversion Hs; subst. simpl. lia. }
    assert (Ps' : forall o, In (Launch o) xs -> P o) by (intros o I; apply Ps; right; exact I).
    destruct B as [B1 B2 B3].
    assert (Keep : forall l, running t0 = l -> now t0 = now s ->
      (forall u, now s <= u -> taken_by (runs_after u) l = taken_by (runs_after u) (running s)) ->
      below t0 before real last).
    { intros l <- N R. split; [lia|exact B2|]. intros u L. rewrite R by lia. apply B3. lia. }
    destruct x as [o|o|o d|o i d|o p| | | |u];
      try (simpl in Sh |- *;
           match goal with |- Forall2 _ _ (assigned (now s) xs) =>
             assert (N : now t0 = now s) by (inversion Hs; reflexivity);
             rewrite <- N in Sh |- *; eapply IH; try eassumption; eapply Keep; [reflexivity|exact N|] end;
           inversion Hs; subst; simpl; try reflexivity).
    + (* a copy takes nothing *)
      intros u L. rewrite taken_by_app. simpl. apply resources_eq; simpl; lia.
    + (* a block *)
      simpl in Sh |- *. inversion Sh as [|b' b0 bs' bs0 Sb Sbs]; subst. inversion P0; subst. inversion Hs; subst.
      destruct Sb as [Kb Db]. simpl in Kb, Db.
      match goal with M : forall t, may_start _ _ _ _ t -> s0 <= t |- _ => assert (Low := M (now s)) end.
      assert (Le : s0 <= now s).
      { match goal with K : next_kernel s _ o _ _ |- _ => destruct K as [K _]; rename K into Ke end.
        apply Low. split; [|split; [exact B1|]]; rewrite Kb.
        - apply (everywhere_ee _ s W _ _ _ Ke (or_introl eq_refl)).
        - match goal with R : R1 s _ i _, Wk : what o = Kernel _ _ _ |- _ =>
            assert (F := Room s o _ _ _ i _ U V (everywhere_ee _ s V _ _ _ Ke (or_introl eq_refl)) Wk R);
            unfold need_of; rewrite Wk end.
          apply fits_parts. intros m M. assert (F' := proj1 (fits_parts _ _) F m M). assert (Ad := parts_additive m M).
          rewrite (proj2 Ad) in F' |- *.
          assert (X := taken_earlier m (now s) before real Ad B2). rewrite (B3 (now s) (le_n _)) in X.
          assert (Y := runs_after_less m (now s) (running s) Ad). lia. }
      constructor; [exact Le|].
      match goal with Hr : steps g ?st xs t |- _ =>
        change (now s) with (now st); eapply (IH t bs' ss s0 (real ++ [Block o (now s) d]) _ st) end;
        try eassumption.
      split; simpl.
      * exact Le.
      * apply Forall2_app; [exact B2|]. constructor; [|constructor]. simpl. split; [exact Le|split; assumption].
      * intros u L. unfold as_run. rewrite map_app, taken_app, taken_by_app. fold (as_run real). rewrite B3 by exact L.
        reflexivity.
    + intros u L. match goal with R : running s = _ |- _ => rewrite R end.
      symmetry. apply ended_takes_nothing. lia.
    + intros u L. match goal with R : running s = _ |- _ => rewrite R end.
      symmetry. apply ended_takes_nothing. lia.
    + (* time passes *)
      simpl in Sh |- *. assert (N : now t0 = u) by (inversion Hs; reflexivity). rewrite <- N in Sh |- *.
      eapply IH; try eassumption. split; [lia|exact B2|]. intros w L. rewrite B3 by lia. inversion Hs; reflexivity.
Qed.

Theorem nothing_before_its_pooled_bound :
  forall g xs t bounds,
  steps g (empty g) xs t -> pooled (total (sms g)) [] 0 (assigned 0 xs) bounds ->
  Forall2 (fun bound b => bound <= start b) bounds (assigned 0 xs).
Proof.
  intros g xs t bounds H. apply (bounds_of_shorter_blocks g _ (fun _ => True)) with (t := t); auto.
  - intros s o blocks need lasts i room U _ _ _ R. apply (room_in_pool g s need i room U R).
  - induction (assigned 0 xs); constructor; [split; [reflexivity|lia]|assumption].
Qed.
