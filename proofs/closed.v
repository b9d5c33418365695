(* What is asked of all that is launched, as a program: that the highest streams wait for no other. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model executable follows lists usage progress capacity serial.

(* A kernel of which the SMs that it may use hold some blocks fits one of these. *)
Lemma some_room g o need : 0 < slots need -> 0 < capacity_from g (stream o) need 0 (sms g) ->
  exists i cap, nth_error (sms g) i = Some cap /\ may_use g o i /\ fits need cap.
Proof.
  intros Pos. enough (G : forall caps a, 0 < capacity_from g (stream o) need a caps ->
    exists i cap, nth_error caps i = Some cap /\ may_use g o (a + i) /\ fits need cap) by apply (G (sms g) 0).
  induction caps as [|cap caps IH]; intros a H; simpl in H; [lia|].
  assert (Next : 0 < capacity_from g (stream o) need (S a) caps -> exists i c, nth_error (cap :: caps) i = Some c /\
    may_use g o (a + i) /\ fits need c).
  { intros L. destruct (IH (S a) L) as (i & c & E & M & F). exists (S i), c. rewrite Nat.add_succ_r. tauto. }
  destruct (leaves g (stream o) a) eqn:M; [|apply Next, H]. destruct (Nat.eq_dec (held need cap) 0) as [Z|N]; [apply Next; lia|].
  exists 0, cap. rewrite Nat.add_0_r. split; [reflexivity|]. split; [apply may_useb_spec, M|].
  assert (P : forall n c, (if n =? 0 then slots cap / slots need else c / n) <> 0 -> n <= c).
  { intros n c L. destruct (Nat.eqb_spec n 0); [lia|]. apply Nat.nlt_ge. intros Lt. apply L, Nat.div_small, Lt. }
  unfold held in N. unfold fits, R2, R3, Registers.
  repeat split; [apply P; lia| |apply P; lia|apply P; lia]. apply Nat.nlt_ge. intros Lt.
  rewrite (Nat.div_small (slots cap)) in N by exact Lt. lia.
Qed.

(* What may be launched: into which stream, and what. *)
Definition kind : Type := nat * work.
Definition kind_of (o : operation) : kind := (stream o, what o).
Definition of_kind (k : kind) : operation := Op 0 (fst k) 0 (snd k).

Section Closed.
Variables (g : device) (top : nat) (kinds : list kind).

Definition above (i : kind) : bool := upper g top (of_kind i).
(* The longest blocks below each level. *)
Definition longest (l : nat) : nat :=
  fold_left (fun m i => match snd i with
    | Kernel _ _ lasts => if l <? level_of g top (fst i) then Nat.max m (worst lasts) else m
    | _ => m
    end) kinds 0.
Definition table : list nat := map longest (seq 0 (S (levels g))).
Definition blocking_of (q : nat) : bool := match nth_error (streams g) q with Some k => blocking k | None => false end.

Definition allowedb (i : kind) : bool :=
  match snd i with
  | Kernel n need lasts =>
      match nth_error (streams g) (fst i) with Some k => level k <? levels g | None => false end
      && (0 <? slots need) && (0 <? capacity g (of_kind i))
  | Copy e _ => e <? engines g
  | Instant => true
  | Wait _ => false
  end.
(* Streams and engines that upper streams wait for are theirs alone. *)
Definition null_is_above : bool := forallb above (filter (fun i => fst i =? 0) kinds).
Definition blocking_are_above : bool :=
  forallb above (filter (fun i => negb (fst i =? 0) && blocking_of (fst i)) kinds).
Definition null_waits : bool := existsb above (filter (fun i => fst i =? 0) kinds).
Definition null_delays : bool :=
  existsb above (filter (fun i => negb (fst i =? 0) && blocking_of (fst i)) kinds).
Definition engine_of (i : kind) : option nat := match snd i with Copy e _ => Some e | _ => None end.
Definition engines_above : bool :=
  forallb (fun e =>
    let copies := filter (fun i => match engine_of i with Some e' => e' =? e | None => false end) kinds in
    forallb above copies || negb (existsb above copies)) (seq 0 (engines g)).
Definition closedb : bool :=
  forallb allowedb kinds && (blocking_are_above || negb null_waits) && (null_is_above || negb null_delays)
  && engines_above.

Lemma above_of o : above (kind_of o) = upper g top o.
Proof. reflexivity. Qed.

Lemma longest_more l i n need lasts : In i kinds -> snd i = Kernel n need lasts ->
  l < level_of g top (fst i) -> worst lasts <= longest l.
Proof.
  unfold longest. intros I W L.
  set (f := fun m (j : kind) => match snd j with
    | Kernel _ _ la => if l <? level_of g top (fst j) then Nat.max m (worst la) else m
    | _ => m
    end).
  assert (Up : forall k m, m <= fold_left f k m).
  { induction k as [|j k IH]; intros m; simpl; [lia|]. specialize (IH (f m j)). unfold f at 1 in IH.
    destruct (snd j); try (eapply Nat.le_trans; [|exact IH]; reflexivity).
    destruct (l <? level_of g top (fst j)); eapply Nat.le_trans; [|exact IH| |exact IH]; lia. }
  generalize 0 as m. revert I. induction kinds as [|j k IH]; intros I m; [destruct I|]. simpl. destruct I as [->|I].
  - eapply Nat.le_trans; [|apply Up]. unfold f. rewrite W. destruct (Nat.ltb_spec l (level_of g top (fst i)));
    lia.
  - apply IH, I.
Qed.

Definition mine (o : operation) : Prop := In (kind_of o) kinds.
Let blocks (l : nat) : nat := nth l table 0.

Lemma accepted_closed : closedb = true -> closed g top blocks mine.
Proof.
  unfold closedb. rewrite !andb_true_iff, !orb_true_iff, !negb_true_iff. intros [[[A B] N] E].
  rewrite forallb_forall in A. split.
  - intros o I. specialize (A _ I). unfold allowedb in A. simpl in A. split.
    + unfold can_run. destruct (what o) as [n need la|e la| |[r|]] eqn:Wo; try exact Logic.I; try discriminate A.
      * rewrite !andb_true_iff in A. destruct A as [[L S] Cp].
        rewrite Nat.ltb_lt in S, Cp. split.
        { unfold capacity, need_of in Cp. simpl in Cp. rewrite Wo in Cp.
          destruct (some_room g o need S Cp) as (j & cap & J & M & F). exists j, cap. tauto. }
        { destruct (nth_error (streams g) (stream o)) as [[l b]|]; [|discriminate L]. exists l, b.
          split; [reflexivity|apply Nat.ltb_lt, L]. }
      * apply Nat.ltb_lt, A.
    + intros n need la W. rewrite W in A. rewrite !andb_true_iff in A. destruct A as [[L S] Cp].
      split; [apply Nat.ltb_lt, S|]. split; [apply Nat.ltb_lt, Cp|]. intros l Ll. unfold blocks, table.
      assert (Lv : level_of g top (stream o) < levels g).
      { unfold level_of. destruct (nth_error (streams g) (stream o)) as [k|]; [|discriminate L]. apply Nat.ltb_lt, L. }
      rewrite (nth_indep _ 0 (longest 0)) by (rewrite map_length, seq_length; lia).
      rewrite map_nth, seq_nth by lia. eapply (longest_more l (kind_of o)); [exact I|exact W|exact Ll].
  - intros o p Io Ip U [[Z Bl]|[Z [Bl Zp]]].
    + destruct B as [B|B].
      * destruct (Nat.eq_dec (stream p) 0) as [Zp|Zp].
        { unfold upper in *. rewrite Zp, <- Z. exact U. }
        { unfold blocking_are_above in B. rewrite forallb_forall in B. apply (B (kind_of p)), filter_In. split;
          [exact Ip|].
          simpl. apply andb_true_iff. split; [apply negb_true_iff, Nat.eqb_neq, Zp|]. unfold blocking_of.
          destruct Bl as [l ->]. reflexivity. }
      * exfalso. unfold null_waits in B. assert (T : existsb above (filter (fun i => fst i =? 0) kinds) = true);
          [|congruence]. apply existsb_exists. exists (kind_of o). split; [apply filter_In; split; [exact Io|]|exact U].
        simpl. apply Nat.eqb_eq, Z.
    + destruct N as [N|N].
      * unfold null_is_above in N. rewrite forallb_forall in N. apply (N (kind_of p)), filter_In. split; [exact Ip|].
        simpl. apply Nat.eqb_eq, Zp.
      * exfalso. unfold null_delays in N.
        assert (T : existsb above (filter (fun i => negb (fst i =? 0) && blocking_of (fst i)) kinds) =
          true);
          [|congruence]. apply existsb_exists. exists (kind_of o). split; [apply filter_In; split; [exact Io|]|exact U].
        simpl. apply andb_true_iff. split; [apply negb_true_iff, Nat.eqb_neq, Z|]. unfold blocking_of.
        destruct Bl as [l ->]. reflexivity.
  - intros o p r Io _ _ W. specialize (A _ Io). unfold allowedb in A. simpl in A. rewrite W in A. discriminate A.
  - intros o p e l m Io Ip U Wo Wp. unfold engines_above in E. rewrite forallb_forall in E.
    assert (Le : In e (seq 0 (engines g))).
    { apply in_seq. specialize (A _ Io). unfold allowedb in A. simpl in A. rewrite Wo in A. apply Nat.ltb_lt in A.
      lia. }
    specialize (E e Le). simpl in E. apply orb_true_iff in E.
    assert (Im : forall x n, mine x -> what x = Copy e n -> In (kind_of x) (filter (fun i =>
      match engine_of i with Some e' => e' =? e | None => false end) kinds)).
    { intros x n Ix W. apply filter_In. split; [exact Ix|]. unfold engine_of. simpl. rewrite W. apply Nat.eqb_refl. }
    destruct E as [E|E].
    + rewrite forallb_forall in E. apply (E _ (Im p m Ip Wp)).
    + exfalso. apply negb_true_iff in E.
      match type of E with ?x = false => assert (T : x = true); [|congruence] end.
      apply existsb_exists. exists (kind_of o). split; [apply (Im o l Io Wo)|exact U].
Qed.
End Closed.
