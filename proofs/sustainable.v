(* Equal blocks that run shorter never make a block start later: docs/analysis.md, section 4. *)
From Coq Require Import List Arith Lia.
Import ListNotations.
From gpusched Require Import model lists usage merged pooled.

(* Every operation goes on at the instant of its launch: it has nothing before it in its stream, and N1, N2 and E2 do
   not
   hold it. *)
Fixpoint goes_at_launch (t : nat) (xs : list label) : Prop :=
  match xs with
  | [] => True
  | Until u :: rest => goes_at_launch u rest
  | GoOn o :: rest => launched_at o = t /\ goes_at_launch t rest
  | _ :: rest => goes_at_launch t rest
  end.

Lemma scale_less need k n : k <= n -> fits (scale k need) (scale n need).
Proof.
  intros L. destruct (scale_fields k need) as (A & B & C & D), (scale_fields n need) as (A' & B' & C' & D').
  unfold fits, R2, R3, Registers. rewrite A, B, C, D, A', B', C', D'. repeat split; apply Nat.mul_le_mono_r; exact L.
Qed.
Lemma scale_more need k n : 0 < slots need -> fits (scale k need) (scale n need) -> k <= n.
Proof.
  intros P [[_ F] _]. destruct (scale_fields k need) as (_ & B & _), (scale_fields n need) as (_ & B' & _).
  rewrite B, B' in F. apply Nat.mul_le_mono_pos_r in F; assumption.
Qed.

Definition is_kernel (need : resources) (o : operation) : Prop := exists blocks lasts, what o = Kernel blocks need
  lasts.

(* What so many equal blocks take. *)
Lemma taken_by_equal need p l :
  (forall r, In r l -> needs need (of r)) ->
  (forall r i, In r l -> on r = Sm i -> exists b n la, what (of r) = Kernel b n la) ->
  (forall r, In r l -> p r = is_block r) -> taken_by p l = scale (blocks_on l) need.
Proof.
  unfold blocks_on. induction l as [|r l IH]; intros N K E; [reflexivity|]. simpl.
  rewrite (E r (or_introl eq_refl)).
  rewrite (IH (fun x I => N x (or_intror I)) (fun x i I => K x i (or_intror I)) (fun x I => E x (or_intror I))).
  destruct (is_block r) eqn:B; [|reflexivity]. simpl. f_equal. unfold is_block in B.
  destruct (on r) as [i|] eqn:O; [|discriminate B].
  destruct (K r i (or_introl eq_refl) O) as (b & n & la & W). unfold need_of. rewrite W.
  apply (N r (or_introl eq_refl) b n la W).
Qed.

Lemma all_blocks need g s : usage g s -> everywhere (needs need) s ->
  taken_by is_block (running s) = scale (blocks_on (running s)) need.
Proof.
  intros U Q. apply taken_by_equal; [apply (everywhere_running _ s Q)| |reflexivity].
  intros r i I O. apply (usage_places g s U r i I O).
Qed.

Lemma equal_has_room need g c :
  Forall2 (holds need) (sms g) c -> has_room g (scale (sum c) need) (needs need).
Proof.
  intros C s o blocks n lasts i room U Q N W R. rewrite (N blocks n lasts W) in *.
  rewrite (all_blocks need g s U Q). apply (scale_less need (S (blocks_on (running s)))).
  apply (room_iff need g s c U Q C). exists i, room. exact R.
Qed.

Lemma some_kernel_next s :
  (forall l k, nth_error (ee s) l = Some k -> k = []) \/ exists l o n rest, next_kernel s l o n rest.
Proof.
  unfold next_kernel. induction (ee s) as [|[|[o n] rest] all IH].
  - left. intros [|l] k E; discriminate E.
  - destruct IH as [H|(l & o & n & rest & E & H)].
    + left. intros [|l] k E; [simpl in E; congruence|apply (H l k E)].
    + right. exists (S l), o, n, rest. split; [exact E|]. intros [|h] L; [reflexivity|]. apply H. lia.
  - right. exists 0, o, n, rest. split; [reflexivity|]. intros h L. lia.
Qed.

Lemma ee_kernels_step need g s x t :
  (forall o, x = Launch o -> needs need o) -> everywhere (needs need) s ->
  (forall l k y, nth_error (ee s) l = Some k -> In y k -> is_kernel need (fst y)) -> step g s x t ->
  forall l k y, nth_error (ee t) l = Some k -> In y k -> is_kernel need (fst y).
Proof.
  intros L Q H St. destruct St; simpl; try exact H.
  - intros l' k y E I. destruct (update_cases _ _ _ _ _ E) as [[_ ->]|[_ E']]; [|apply (H l' k y E' I)].
    apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (H _ _ _ H3 I)|]. simpl.
    exists n, lasts. rewrite H1. f_equal. destruct H0 as [[H0 _] _].
    apply (everywhere_queues _ s Q _ _ o H0 (or_introl eq_refl) _ _ _ H1).
  - intros l' k y E I. destruct H2 as [H2 _].
    destruct (update_cases _ _ _ _ _ E) as [[_ ->]|[_ E']]; [|apply (H l' k y E' I)].
    unfold G3 in I. destruct n as [|n]; [apply (H _ _ _ H2); right; exact I|].
    destruct I as [<-|I]; [|apply (H _ _ _ H2); right; exact I].
    apply (H _ _ (o, S (S n)) H2). left. reflexivity.
Qed.

(* Why nothing began at the instants since the last block did: the pool was full, or what waits now was not launched. *)
Definition held (need pool : resources) (s : state) (real : list block) (last : nat) : Prop :=
  forall t, last <= t < now s ->
    ~ fits (plus need (taken t (as_run real))) pool \/
    forall l k x, nth_error (ee s) l = Some k -> In x k -> t < launched_at (fst x).

(* So where kernels are independent, blocks start at their pooled bounds, computed from the run's own lengths. *)
Lemma starts_are_bounds need g c :
  0 < slots need -> masks g = [] -> Forall2 (holds need) (sms g) c ->
  forall xs t, steps g (empty g) xs t -> (forall o, In (Launch o) xs -> needs need o) -> goes_at_launch 0 xs ->
  pooled (scale (sum c) need) [] 0 (assigned 0 xs) (map start (assigned 0 xs)).
Proof.
  intros Pos Ma C xs t. set (pool := scale (sum c) need).
  assert (U := usage_empty g). assert (V := everywhere_empty (needs need) g).
  assert (W := everywhere_empty (fun o => launched_at o <= now (empty g)) g).
  assert (E : forall l k y, nth_error (ee (empty g)) l = Some k -> In y k -> is_kernel need (fst y)).
  { simpl. intros l k y F I. apply nth_error_In, repeat_spec in F. subst k. destruct I. }
  assert (B : below (empty g) (as_run []) [] 0) by (split; simpl; [lia|constructor|reflexivity]).
  assert (J : held need pool (empty g) [] 0) by (intros u L; simpl in L; lia).
  change (@nil (nat * block)) with (as_run []). change 0 with (now (empty g)) at 1 3 4.
  generalize dependent (empty g). generalize (@nil block) as real. generalize 0 as last. revert t.
  induction xs as [|x xs IH]; intros t last real s U V W E B J H Ps G; [constructor|].
  inversion H; subst. rename H3 into Hs, H5 into Hr.
  assert (U' := usage_step g s x _ U Hs).
  assert (Later : now s <= now t0) by (destruct Hs; simpl; lia).
  assert (Px : forall o, x = Launch o -> needs need o) by (intros o ->; apply Ps; left; reflexivity).
  assert (V' := everywhere_step _ g s x t0 V Hs Px).
  assert (E' := ee_kernels_step need g s x t0 Px V E Hs).
  assert (W' : everywhere (fun o => launched_at o <= now t0) t0).
  { eapply everywhere_step; [|exact Hs|].
    - eapply everywhere_weaker; [|exact W]. simpl. intros o L. lia.
    - intros o ->. inversion Hs; subst. simpl. lia. }
  assert (Ps' : forall o, In (Launch o) xs -> needs need o) by (intros o I; apply Ps; right; exact I).
  destruct B as [B1 B2 B3].
  assert (Keep : forall l, running t0 = l -> now t0 = now s ->
    (forall u, now s <= u -> taken_by (runs_after u) l = taken_by (runs_after u) (running s)) ->
    below t0 (as_run real) real last).
  { intros l <- N R. split; [lia|exact B2|]. intros u L. rewrite R by lia. apply B3. lia. }
  assert (Same : ee t0 = ee s -> now t0 = now s -> held need pool t0 real last).
  { intros Ee N u L. rewrite N in L. rewrite Ee. apply (J u L). }
  destruct x as [o|o|o d|o i d|o p| | | |u];
    try (simpl in G |- *;
         match goal with |- pooled _ _ _ (assigned (now s) xs) _ =>
           assert (N : now t0 = now s) by (inversion Hs; reflexivity); try destruct G as [G0 G];
           rewrite <- N in G |- *; eapply IH; try eassumption;
           [eapply Keep; [reflexivity|exact N|]; inversion Hs; subst; simpl; try reflexivity
           |try (apply Same; [inversion Hs; reflexivity|exact N])] end).
  - (* what goes on was launched now *)
    inversion Hs; subst; try (apply Same; reflexivity). intros u L. simpl in L. destruct (J u L) as [F|F]; [left;
      exact F|].
    right. simpl. intros l' k y E0 I. destruct (update_cases _ _ _ _ _ E0) as [[_ ->]|[_ E1]]; [|apply (F l' k y E1 I)].
    apply in_app_iff in I. destruct I as [I|[<-|[]]]; [eapply F; eassumption|]. simpl. lia.
  - (* a copy takes nothing *)
    intros u L. rewrite taken_by_app. simpl. apply resources_eq; simpl; lia.
  - (* a block *)
    simpl in G |- *. inversion Hs; subst.
    match goal with K : next_kernel s _ o _ _ |- _ => destruct K as [Ke _] end.
    assert (In0 := or_introl eq_refl : In (o, S n) ((o, S n) :: rest)).
    match goal with Wk : what o = Kernel _ ?m _ |- _ =>
      assert (Nd : m = need) by (apply (everywhere_ee _ s V _ _ _ Ke In0 _ _ _ Wk));
      assert (No : need_of o = need) by (unfold need_of; rewrite Wk; exact Nd) end.
    subst need0. constructor.
    + split; [apply (everywhere_ee _ s W _ _ _ Ke In0)|split; [exact B1|]]. simpl. rewrite No, (B3 (now s) (le_n _)).
      match goal with R : R1 s _ i _, Wk : what o = Kernel _ _ _ |- _ =>
        assert (F := equal_has_room need g c C s o _ _ _ i _ U V (everywhere_ee _ s V _ _ _ Ke In0) Wk R) end.
      apply fits_parts. intros m M. assert (F' := proj1 (fits_parts _ _) F m M). assert (Ad := parts_additive m M).
      rewrite (proj2 Ad) in F' |- *. assert (Y := runs_after_less m (now s) (running s) Ad). fold pool in F'. lia.
    + intros w (A1 & A2 & A3). destruct (Nat.le_gt_cases (now s) w) as [Le|Gt]; [exact Le|]. exfalso.
      simpl in A1, A3. rewrite No in A3. destruct (J w (conj A2 Gt)) as [F|F]; [exact (F A3)|].
      specialize (F _ _ _ Ke In0). simpl in F. lia.
    + replace (as_run real ++ [(now s, Block o (now s) d)]) with (as_run (real ++ [Block o (now s) d]))
        by (unfold as_run; rewrite map_app; reflexivity).
      match goal with Hr : steps g ?st xs t |- _ => change (now s) with (now st) at 2 3 4; eapply (IH t) end;
        try eassumption.
      * split; simpl.
        { lia. }
        { unfold as_run. rewrite map_app. apply Forall2_app; [exact B2|]. constructor; [|constructor].
          simpl. split; [lia|]. split; [reflexivity|lia]. }
        { intros u L. unfold as_run. rewrite map_app, taken_app, taken_by_app. fold (as_run real).
          rewrite B3 by exact L. reflexivity. }
      * intros u L. simpl in L. lia.
  - intros u L. match goal with R : running s = _ |- _ => rewrite R end.
    symmetry. apply ended_takes_nothing. lia.
  - intros u L. match goal with R : running s = _ |- _ => rewrite R end.
    symmetry. apply ended_takes_nothing. lia.
  - (* time passes *)
    simpl in G |- *. assert (N : now t0 = u) by (inversion Hs; reflexivity). rewrite <- N in G |- *.
    eapply IH; try eassumption.
    + split; [lia|exact B2|]. intros w L. rewrite B3 by lia. inversion Hs; reflexivity.
    + intros w L. clear N. inversion Hs; subst. simpl in L |- *. destruct (Nat.lt_ge_cases w (now s)) as [Lt|Ge].
      * destruct (J w (conj (proj1 L) Lt)) as [F|F]; [left; exact F|right; exact F].
      * destruct (some_kernel_next s) as [Z|(l & o & n & rest & K)].
        { right. intros l k y E0 I. rewrite (Z l k E0) in I. destruct I. }
        left. destruct (E l _ (o, n) (proj1 K) (or_introl eq_refl)) as (blocks & lasts & Wk). simpl in Wk.
        rewrite B3 by lia.
        assert (Full : sum c <= blocks_on (running s)).
        { apply Nat.nlt_ge. intros Lt. apply (room_iff need g s c U V C) in Lt. destruct Lt as (i & room & R).
          match goal with F : no_block_fits _ s |- _ => exact (F _ _ _ _ _ _ _ i room K Wk (unmasked _ _ _ Ma) R) end. }
        rewrite (taken_by_equal need (runs_after w) (running s) (everywhere_running _ s V)).
        { intros F. apply (scale_more need (S (blocks_on (running s))) (sum c) Pos) in F. lia. }
        { intros r i I O. apply (usage_places g s U r i I O). }
        { intros r I. unfold runs_after, is_block. destruct (on r); [|reflexivity].
          match goal with F : forall r, In r (running s) -> u <= ends r |- _ => specialize (F r I) end.
          apply Nat.ltb_lt. lia. }
Qed.

(* If, of two runs, [ys] assigns the same equal blocks in the same order, none of which runs longer, and its
   operations go on
   at the instants of their launches, no block of it starts later than in [xs]. *)
Theorem shorter_blocks_start_no_later :
  forall need g c xs ys t u,
  0 < slots need -> masks g = [] -> Forall2 (holds need) (sms g) c ->
  steps g (empty g) xs t -> (forall o, In (Launch o) xs -> needs need o) ->
  steps g (empty g) ys u -> (forall o, In (Launch o) ys -> needs need o) -> goes_at_launch 0 ys ->
  Forall2 shorter (assigned 0 ys) (assigned 0 xs) ->
  Forall2 (fun b' b => start b' <= start b) (assigned 0 ys) (assigned 0 xs).
Proof.
  intros need g c xs ys t u Pos Ma C X Lx Y Ly G Sh.
  assert (B := starts_are_bounds need g c Pos Ma C ys u Y Ly G).
  assert (R := bounds_of_shorter_blocks g _ _ (equal_has_room need g c C) xs t _ _ X Lx Sh B).
  clear - R. revert R. generalize (assigned 0 xs). induction (assigned 0 ys) as [|b l IH]; intros k R; inversion R;
    subst.
  - constructor.
  - constructor; [assumption|]. apply IH. assumption.
Qed.
