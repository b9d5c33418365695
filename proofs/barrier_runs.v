(* What holds in every run of kernels whose blocks wait for one another; that every run is finite; and what it means
   that nothing can go on. *)
From Coq Require Import List Arith Bool Lia Relations.
Import ListNotations.
From gpusched Require Import barriers.

(* There is an order in which kernels can enter one after the other: what each waits for before it enters is of those
   before it. *)
Definition in_some_order (g : system) : Prop :=
  exists order, well_founded order /\ forall k, In k (kernels g) ->
    (forall j, In j (after g k) \/ In j (behind g k) -> order j k) /\
    (forall c v, In (c, v) (needs g k) ->
      exists js, NoDup js /\ (forall j, In j js -> In j (kernels g) /\ order j k) /\ v <= all_sent g c js).

(* In a list, [j] is before [k]. *)
Definition precedes (l : list nat) (j k : nat) : Prop := exists a b c, l = a ++ j :: b ++ k :: c.

Lemma precedes_last l j k x : precedes (l ++ [x]) j k -> precedes l j k \/ (k = x /\ In j l).
Proof.
  intros (a & b & c & E). destruct (exists_last (l := k :: c)) as (c' & y & F); [discriminate|].
  assert (E' : l ++ [x] = (a ++ j :: b ++ c') ++ [y]).
  { rewrite E, F. rewrite <- !app_assoc. simpl. rewrite <- !app_assoc. reflexivity. }
  apply app_inj_tail in E'. destruct E' as [-> ->]. destruct c' as [|z c'].
  - right. injection F as -> _. split; [reflexivity|]. rewrite app_nil_r. apply in_app_iff. right. left. reflexivity.
  - left. injection F as -> _. exists a, b, c'. reflexivity.
Qed.
Lemma precedes_more l j k x : precedes l j k -> precedes (l ++ [x]) j k.
Proof.
  intros (a & b & c & ->). exists a, b, (c ++ [x]). rewrite <- !app_assoc. simpl. rewrite <- !app_assoc. reflexivity.
Qed.
Lemma precedes_in l j k : precedes l j k -> In j l /\ In k l.
Proof.
  intros (a & b & c & ->). split; apply in_app_iff; right; [left; reflexivity|].
  right. apply in_app_iff. right. left. reflexivity.
Qed.
Lemma in_precedes l j x : In j l -> precedes (l ++ [x]) j x.
Proof.
  intros I. apply in_split in I. destruct I as (a & b & ->). exists a, b, []. rewrite <- app_assoc. reflexivity.
Qed.
(* What is in a list once has one place there. *)
Lemma same_place (l a x : list nat) m d e : NoDup l -> l = a ++ m :: d -> l = x ++ m :: e -> a = x.
Proof.
  intros N -> E. revert x E N. induction a as [|y a IH]; intros [|z x] E N; simpl in *.
  - reflexivity.
  - injection E as -> E. inversion N; subst. destruct H1. apply in_app_iff. right. left. reflexivity.
  - injection E as -> E. inversion N; subst. destruct H1. apply in_app_iff. right. left. reflexivity.
  - injection E as -> E. inversion N; subst. rewrite (IH x E H2). reflexivity.
Qed.
Lemma precedes_prefix a k b j : NoDup (a ++ k :: b) -> precedes (a ++ k :: b) j k -> In j a.
Proof.
  intros N (a' & b' & c' & E). assert (X : a = a' ++ j :: b').
  { apply (same_place _ _ _ k b c' N eq_refl). rewrite E, <- app_assoc. reflexivity. }
  rewrite X. apply in_app_iff. right. left. reflexivity.
Qed.
Lemma one_precedes l j k : In j l -> In k l -> j <> k -> precedes l j k \/ precedes l k j.
Proof.
  intros J K N. apply in_split in J. destruct J as (a & b & ->). apply in_app_iff in K. destruct K as [K|[K|K]].
  - right. apply in_split in K. destruct K as (c & d & ->). exists c, d, b. rewrite <- app_assoc. reflexivity.
  - destruct (N K).
  - left. apply in_split in K. destruct K as (c & d & ->). exists a, c, d. reflexivity.
Qed.
(* The first that a filter leaves has none of these before it. *)
Lemma first_left (f : nat -> bool) l k rest j : NoDup l -> filter f l = k :: rest -> precedes l j k -> f j = false.
Proof.
  intros N F (a & b & c & ->). destruct (f j) eqn:J; [|reflexivity]. exfalso. rewrite filter_app in F. simpl in F.
  rewrite J in F. destruct (filter f a) as [|x a'] eqn:A; simpl in F; injection F as E _.
  - subst j. apply NoDup_remove_2 in N. apply N. rewrite !in_app_iff. right. right. left. reflexivity.
  - subst x. assert (I : In k a) by (apply (proj1 (filter_In f k a)); rewrite A; left; reflexivity).
    apply in_split in I. destruct I as (a1 & a2 & ->). rewrite <- app_assoc in N. simpl in N. apply NoDup_remove_2 in N.
    apply N. apply in_app_iff. right. apply in_app_iff. right. right. apply in_app_iff. right. left. reflexivity.
Qed.

Section Runs.
Variable g : system.
Hypothesis S : sane g.

Record proper (s : state) : Prop := {
  proper_once : NoDup (entered s);
  proper_known : forall k, In k (entered s) -> In k (kernels g);
  proper_of : forall b, In b (blocks s) -> In (of b) (entered s);
  proper_few : forall k, assigned s k <= blocks_of g k;
  proper_groups : forall k, exists m, assigned s k = m * group g k;
  proper_passed : forall b, In b (blocks s) -> passed b <= Datatypes.S (length (points g (of b)));
  proper_placed : placement g (resident g s);
  proper_after : forall j k, In k (entered s) -> In j (after g k) -> ended g s j;
  proper_before : forall j k, In k (entered s) -> In j (after g k) \/ In j (behind g k) -> precedes (entered s) j k;
  (* First in, first out: a kernel has blocks only if those before it in its queue have all of theirs. *)
  proper_fifo : forall j k, precedes (entered s) j k -> queue g j = queue g k -> 0 < assigned s k ->
    assigned s j = blocks_of g j
}.

Lemma ended_entered s k : proper s -> In k (kernels g) -> ended g s k -> In k (entered s).
Proof.
  intros P I E. assert (B := sane_blocks g S k I). unfold ended in E.
  destruct (count_some (fun b => (of b =? k) && over g b) (blocks s)) as (b & J & F); [lia|].
  apply andb_prop in F. destruct F as [F _]. apply Nat.eqb_eq in F. subst k. apply (proper_of s P b J).
Qed.
Lemma ended_all s k : proper s -> ended g s k ->
  assigned s k = blocks_of g k /\
  forall b, In b (blocks s) -> of b = k -> length (points g k) < passed b.
Proof.
  intros P E. assert (F := proper_few s P k). unfold ended in E.
  assert (L : count (fun b => (of b =? k) && over g b) (blocks s) <= assigned s k).
  { apply count_le. intros b _ C. apply andb_prop in C. tauto. }
  split; [lia|]. intros b I Eb.
  assert (O : over g b = true).
  { apply (count_both (fun b => of b =? k) (over g) (blocks s)); [unfold assigned in *; lia|exact I|].
    apply Nat.eqb_eq, Eb. }
  unfold over in O. apply Nat.ltb_lt in O. subst k. exact O.
Qed.
Lemma all_are_ended s k : blocks_of g k <= assigned s k ->
  (forall b, In b (blocks s) -> of b = k -> length (points g k) < passed b) -> ended g s k.
Proof.
  intros A O. unfold ended. eapply Nat.le_trans; [exact A|]. apply count_le. intros b I E. rewrite E. simpl.
  apply Nat.eqb_eq in E. unfold over. apply Nat.ltb_lt. rewrite E. apply (O b I E).
Qed.

(* If not all blocks of a kernel are assigned, at least one group is not. *)
Lemma group_left s k : proper s -> In k (kernels g) -> assigned s k < blocks_of g k ->
  0 < group g k /\ assigned s k + group g k <= blocks_of g k.
Proof.
  intros P I L. destruct (sane_groups g S k I) as [n N], (proper_groups s P k) as [m M]. rewrite N, M in *.
  assert (m < n) by (apply Nat.nle_gt; intros Y; apply (Nat.mul_le_mono_r _ _ (group g k)) in Y; lia).
  split; [destruct (group g k); lia|]. apply (Nat.mul_le_mono_r (Datatypes.S m) n (group g k)) in H. simpl in H. lia.
Qed.
Lemma group_some k : In k (kernels g) -> 0 < group g k <= blocks_of g k.
Proof.
  intros I. destruct (sane_groups g S k I) as [n N]. assert (B := sane_blocks g S k I). rewrite N in *.
  destruct n; simpl in *; [lia|]. destruct (group g k); simpl in *; lia.
Qed.

(* Fewer blocks can be placed where more can. *)
Lemma there_more sm x a b k : there sm (a ++ b) k <= there sm (a ++ x :: b) k.
Proof. unfold there. rewrite !count_app, count_cons. lia. Qed.
Lemma placement_without x a b : placement g (a ++ x :: b) -> placement g (a ++ b).
Proof.
  induction a as [|[k sm] a IH]; simpl; intros P; inversion P; subst.
  - assumption.
  - constructor; [apply IH; assumption|assumption|].
    eapply (sane_fits g S); [|eassumption]. intros j. apply there_more.
Qed.
Lemma placement_filter f l : placement g l -> placement g (filter f l).
Proof.
  induction l as [|[k sm] l IH]; simpl; intros P; [constructor|]. inversion P; subst.
  destruct (f (k, sm)); [|apply IH; assumption]. constructor; [apply IH; assumption|assumption|].
  eapply (sane_fits g S); [|eassumption]. intros j. unfold there. rewrite count_filter. apply count_le.
  intros y _ E. apply andb_prop in E. tauto.
Qed.
Lemma placement_rest a l : placement g (a ++ l) -> placement g l.
Proof. induction a as [|x a IH]; simpl; intros P; [exact P|]. inversion P; subst. apply IH. assumption. Qed.

(* The next point of a block. *)
Definition on_by_one (b : block) : block := Block (of b) (on b) (Datatypes.S (passed b)).
Lemma resident_pass s l1 l2 b : blocks s = l1 ++ b :: l2 -> over g b = false -> placement g (resident g s) ->
  placement g (resident g (State (entered s) (l1 ++ on_by_one b :: l2))).
Proof.
  unfold resident. intros E O P. rewrite E in P. rewrite filter_app, map_app in P. simpl in *. rewrite O in P.
  rewrite filter_app, map_app. simpl in *. destruct (over g (on_by_one b)); simpl.
  - apply (placement_without _ _ _ P).
  - exact P.
Qed.
Lemma assigned_pass s l1 l2 b k : blocks s = l1 ++ b :: l2 ->
  assigned (State (entered s) (l1 ++ on_by_one b :: l2)) k = assigned s k.
Proof. unfold assigned. intros ->. simpl. rewrite !count_app, !count_cons. reflexivity. Qed.
Lemma assigned_assign s k sms j :
  assigned (State (entered s) (map (fun sm => Block k sm 0) sms ++ blocks s)) j =
  (if k =? j then length sms else 0) + assigned s j.
Proof.
  unfold assigned. simpl. rewrite count_app, count_map. simpl. f_equal. destruct (k =? j).
  - apply count_all. reflexivity.
  - apply count_none. reflexivity.
Qed.
Lemma ended_step s t k : step g s t -> ended g s k -> ended g t k.
Proof.
  unfold ended. intros St E. eapply Nat.le_trans; [exact E|]. destruct St; simpl.
  - lia.
  - rewrite count_app. lia.
  - rewrite H. rewrite !count_app, !count_cons. simpl. apply Nat.add_le_mono_l, Nat.add_le_mono_r.
    unfold over in *. rewrite H0, andb_false_r. lia.
Qed.
Lemma next_facts s k : next_kernel g s k -> In k (entered s) /\ assigned s k < blocks_of g k /\
  forall j, NoDup (entered s) -> precedes (entered s) j k -> queue g j = queue g k -> blocks_of g j <= assigned s j.
Proof.
  intros [[rest F] _]. unfold waiting in F.
  assert (I : In k (filter (fun k0 => (queue g k0 =? queue g k) && (assigned s k0 <? blocks_of g k0)) (entered s))).
  { rewrite F. left. reflexivity. }
  apply filter_In in I. destruct I as [I J]. apply andb_prop in J. destruct J as [_ J]. apply Nat.ltb_lt in J.
  split; [exact I|]. split; [exact J|]. intros j N Pr Q.
  assert (Z := first_left _ _ _ _ j N F Pr). simpl in Z. rewrite Q, Nat.eqb_refl in Z. simpl in Z.
  apply Nat.ltb_ge in Z. exact Z.
Qed.

Lemma proper_step s t : proper s -> step g s t -> proper t.
Proof.
  intros P St. assert (E := ended_step s t). specialize (fun k => E k St). destruct St.
  - (* a kernel enters *)
    assert (Pl : placement g (resident g (State (entered s ++ [k]) (blocks s)))) by apply (proper_placed s P).
    assert (Z : assigned s k = 0).
    { apply count_none. intros b I. destruct (of b =? k) eqn:X; [|reflexivity]. apply Nat.eqb_eq in X. subst k.
      destruct (H0 (proper_of s P b I)). }
    split; simpl.
    + rewrite <- (rev_involutive (entered s ++ [k])). apply NoDup_rev.
      rewrite rev_app_distr. simpl. constructor; [rewrite <- in_rev; exact H0|apply NoDup_rev, (proper_once s P)].
    + intros j I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (proper_known s P), I|exact H].
    + intros b I. apply in_app_iff. left. apply (proper_of s P), I.
    + apply (proper_few s P).
    + apply (proper_groups s P).
    + apply (proper_passed s P).
    + exact Pl.
    + intros j m I J. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (proper_after s P j m I J)|].
      apply (H1 j J).
    + intros j m I J. apply in_app_iff in I. destruct I as [I|[<-|[]]].
      * apply precedes_more, (proper_before s P j m I J).
      * apply in_precedes. destruct J as [J|J]; [|apply (H2 j J)].
        apply (ended_entered s j P); [apply (sane_after g S k j H J)|apply (H1 j J)].
    + intros j m I Q L. destruct (precedes_last _ _ _ _ I) as [I'|[-> _]]; [apply (proper_fifo s P j m I' Q L)|].
      change (assigned (State (entered s ++ [k]) (blocks s)) k) with (assigned s k) in L. lia.
  - (* blocks of a kernel are assigned *)
    destruct (next_facts s k H) as (Ik & Lk & Before). specialize (fun j => Before j (proper_once s P)).
    assert (A := fun j => assigned_assign s k sms j).
    destruct (group_left s k P (proper_known s P k Ik) Lk) as [_ Left].
    split; simpl.
    + apply (proper_once s P).
    + apply (proper_known s P).
    + intros b I. apply in_app_iff in I. destruct I as [I|I]; [|apply (proper_of s P), I].
      apply in_map_iff in I. destruct I as (sm & <- & _). exact Ik.
    + intros j. rewrite A. assert (F := proper_few s P j). destruct (k =? j) eqn:X; [|lia]. apply Nat.eqb_eq in X.
      subst j. rewrite H0. lia.
    + intros j. rewrite A. destruct (proper_groups s P j) as [m M]. destruct (k =? j) eqn:X; [|exists m; exact M].
      apply Nat.eqb_eq in X. subst j. exists (Datatypes.S m). rewrite H0, M. reflexivity.
    + intros b I. apply in_app_iff in I. destruct I as [I|I]; [|apply (proper_passed s P), I].
      apply in_map_iff in I. destruct I as (sm & <- & _). simpl. lia.
    + unfold resident. simpl. rewrite filter_app, map_app.
      replace (map (fun b => (of b, on b)) (filter (fun b => negb (over g b)) (map (fun sm => Block k sm 0) sms)))
        with (map (pair k) sms); [exact H2|].
      clear. induction sms as [|sm sms IH]; simpl; [reflexivity|]. rewrite IH. reflexivity.
    + intros j m I J. apply E, (proper_after s P j m I J).
    + apply (proper_before s P).
    + intros j m I Q L. rewrite A in *.
      assert (X : assigned s j = blocks_of g j).
      { destruct (k =? m) eqn:X; [|apply (proper_fifo s P j m I Q); lia]. apply Nat.eqb_eq in X. subst m.
        specialize (Before j I Q). assert (F := proper_few s P j). lia. }
      destruct (k =? j) eqn:Y; [|exact X]. apply Nat.eqb_eq in Y. subst j. lia.
  - (* a block passes a point *)
    assert (A := fun j => assigned_pass s before behind b j H).
    change (Block (of b) (on b) (Datatypes.S (passed b))) with (on_by_one b) in *.
    assert (Old : forall x, In x (before ++ on_by_one b :: behind) -> x = on_by_one b \/ In x (blocks s)).
    { intros x I. rewrite H. apply in_app_iff in I. rewrite in_app_iff. simpl in *.
      destruct I as [I|[I|I]]; [|left; symmetry; exact I|]; tauto. }
    assert (Ib : In b (blocks s)) by (rewrite H; apply in_app_iff; right; left; reflexivity).
    split; simpl.
    + apply (proper_once s P).
    + apply (proper_known s P).
    + intros x I. destruct (Old x I) as [->|I']; [apply (proper_of s P b Ib)|apply (proper_of s P x I')].
    + intros j. rewrite A. apply (proper_few s P).
    + intros j. rewrite A. apply (proper_groups s P).
    + intros x I. destruct (Old x I) as [->|I']; [|apply (proper_passed s P x I')]. simpl.
      unfold over in H0. apply Nat.ltb_ge in H0. lia.
    + apply resident_pass; [exact H|exact H0|apply (proper_placed s P)].
    + intros j m I J. apply E, (proper_after s P j m I J).
    + apply (proper_before s P).
    + intros j m. rewrite !A. apply (proper_fifo s P).
Qed.

Theorem run_proper n s : run g n s -> proper s.
Proof.
  induction 1 as [|n s t R IH St]; [|apply (proper_step s t IH St)].
  split; simpl; try (intros; contradiction).
  - constructor.
  - intros k. apply Nat.le_0_l.
  - intros k. exists 0. reflexivity.
  - constructor.
  - intros j k (a & b & c & E). destruct a; discriminate E.
Qed.

(* Every run is finite: each kernel enters once, and each block passes each of its points, and its end, once. *)
Definition longest : nat :=
  length (kernels g) + list_sum (map (fun k => blocks_of g k * (2 + length (points g k))) (kernels g)).
Definition done (s : state) : nat := length (entered s) + list_sum (map (fun b => Datatypes.S (passed b)) (blocks s)).

Lemma step_does s t : step g s t -> proper s -> done s < done t.
Proof.
  intros St P. destruct St; unfold done; simpl.
  - rewrite app_length. simpl. lia.
  - rewrite map_app, list_sum_app. assert (L : 0 < length sms).
    { destruct (next_facts s k H) as (I & _). rewrite H0. apply group_some, (proper_known s P k I). }
    destruct sms; simpl in *; lia.
  - rewrite H, !map_app, !list_sum_app. simpl. lia.
Qed.
Theorem runs_are_finite n s : run g n s -> n <= longest.
Proof.
  intros R. assert (P := run_proper n s R). assert (D : n <= done s).
  { clear P. induction R as [|n s t R IH St]; [apply Nat.le_0_l|]. assert (X := step_does s t St (run_proper n s R)).
    lia. }
  eapply Nat.le_trans; [exact D|]. unfold done, longest. apply Nat.add_le_mono.
  - apply NoDup_incl_length; [apply (proper_once s P)|]. intros k I. apply (proper_known s P k I).
  - eapply Nat.le_trans; [apply (shares_ge _ (kernels g))|].
    + intros b I. apply (proper_known s P), (proper_of s P b I).
    + apply sum_le. intros k I. eapply Nat.le_trans; [apply (share_le _ _ _ (2 + length (points g k)))|].
      * intros b J E. assert (X := proper_passed s P b J). rewrite E in X. lia.
      * apply Nat.mul_le_mono_r, (proper_few s P).
Qed.

(* What has ended before is over when a kernel has entered. *)
Lemma before_ended s j k : proper s -> In k (entered s) -> ended_before g j k -> ended g s j.
Proof.
  intros P I B. apply clos_trans_tn1 in B. revert I. induction B as [k H|k m H B IH]; intros I.
  - apply (proper_after s P j k I H).
  - apply IH. apply (ended_entered s k P); [apply (sane_after g S m); [apply (proper_known s P m I)|exact H]|].
    apply (proper_after s P k m I H).
Qed.
Lemma before_entered s j k : proper s -> In k (entered s) -> entered_before g j k -> precedes (entered s) j k.
Proof.
  intros P I B. apply clos_trans_t1n in B. revert I. induction B as [j k H|j m k H B IH]; intros I.
  - apply (proper_before s P j k I H).
  - specialize (IH I). assert (J := proper_before s P j m (proj1 (precedes_in _ _ _ IH)) H).
    assert (N := proper_once s P). destruct IH as (a & b & c & E), J as (a' & b' & c' & E').
    assert (X : a = a' ++ j :: b').
    { apply (same_place _ _ _ m (b ++ k :: c) c' N E). rewrite E', <- app_assoc. reflexivity. }
    exists a', (b' ++ m :: b), c. rewrite E, X, <- !app_assoc. simpl. rewrite <- ?app_assoc. reflexivity.
Qed.

(* Nothing passes a point, nothing enters: what keeps each block and each kernel. *)
Definition no_block_passes (s : state) : Prop :=
  forall b, In b (blocks s) -> over g b = false ->
  exists c v, nth_error (points g (of b)) (passed b) = Some (Await c v) /\ counter g s c < v.
Definition none_enters (s : state) : Prop :=
  forall k, In k (kernels g) -> ~ In k (entered s) ->
  (exists j, In j (after g k) /\ ~ ended g s j) \/ (exists j, In j (behind g k) /\ ~ In j (entered s)) \/
  (exists c v, In (c, v) (needs g k) /\ counter g s c < v).

Definition heldb (s : state) (b : block) : bool :=
  match nth_error (points g (of b)) (passed b) with Some (Await c v) => counter g s c <? v | _ => false end.
Definition endedb (s : state) (k : nat) : bool :=
  blocks_of g k <=? count (fun b => (of b =? k) && over g b) (blocks s).
Lemma endedb_ended s k : endedb s k = true <-> ended g s k.
Proof. apply Nat.leb_le. Qed.
Lemma enteredb s k : {In k (entered s)} + {~ In k (entered s)}.
Proof. apply in_dec, Nat.eq_dec. Qed.

Lemma goes_on_or_not s : (exists t, step g s t) \/ (no_block_passes s /\ none_enters s).
Proof.
  destruct (existsb (fun b => negb (over g b) && negb (heldb s b)) (blocks s)) eqn:B.
  - left. apply existsb_exists in B. destruct B as (b & I & B). apply andb_prop in B. destruct B as [O H].
    apply negb_true_iff in O, H. apply in_split in I. destruct I as (l1 & l2 & E). eexists. apply (Pass g s l1 l2 b E O).
    intros c v N. unfold heldb in H. rewrite N in H. apply Nat.ltb_ge in H. exact H.
  - set (may_enter := fun k => negb (existsb (Nat.eqb k) (entered s)) && forallb (endedb s) (after g k) &&
      forallb (fun j => existsb (Nat.eqb j) (entered s)) (behind g k) &&
      forallb (fun x => snd x <=? counter g s (fst x)) (needs g k)).
    assert (Mem : forall k, existsb (Nat.eqb k) (entered s) = true <-> In k (entered s)).
    { intros k. rewrite existsb_exists. split.
      - intros (x & I & X). apply Nat.eqb_eq in X. subst x. exact I.
      - intros I. exists k. split; [exact I|apply Nat.eqb_refl]. }
    destruct (existsb may_enter (kernels g)) eqn:C.
    + left. apply existsb_exists in C. destruct C as (k & I & C). unfold may_enter in C. apply andb_prop in C.
      destruct C as [C F3]. apply andb_prop in C. destruct C as [C F2]. apply andb_prop in C. destruct C as [C F1].
      apply negb_true_iff in C. rewrite forallb_forall in F1, F2, F3. eexists. apply (Enter g s k I).
      * intros J. apply Mem in J. congruence.
      * intros j J. apply endedb_ended, (F1 j J).
      * intros j J. apply Mem, (F2 j J).
      * intros c v J. apply Nat.leb_le, (F3 (c, v) J).
    + right. split.
      * intros b I O. destruct (heldb s b) eqn:H.
        { unfold heldb in H. destruct (nth_error _ _) as [[c|c v]|]; try discriminate H. exists c, v.
          split; [reflexivity|apply Nat.ltb_lt, H]. }
        { assert (T : existsb (fun b => negb (over g b) && negb (heldb s b)) (blocks s) = true); [|congruence].
          apply existsb_exists. exists b. rewrite O, H. tauto. }
      * intros k I N. destruct (forallb (endedb s) (after g k)) eqn:F1.
        { destruct (forallb (fun j => existsb (Nat.eqb j) (entered s)) (behind g k)) eqn:F2.
          - destruct (forallb (fun x => snd x <=? counter g s (fst x)) (needs g k)) eqn:F3.
            + assert (T : existsb may_enter (kernels g) = true); [|congruence]. apply existsb_exists. exists k.
              split; [exact I|]. unfold may_enter. rewrite F1, F2, F3.
              destruct (existsb (Nat.eqb k) (entered s)) eqn:M; [|reflexivity]. apply Mem in M. destruct (N M).
            + right. right. clear F1 F2. induction (needs g k) as [|[c v] l IH]; [discriminate F3|]. simpl in F3.
              destruct (v <=? counter g s c) eqn:M.
              * destruct (IH F3) as (c' & v' & J & X). exists c', v'. split; [right; exact J|exact X].
              * exists c, v. split; [left; reflexivity|apply Nat.leb_gt, M].
          - right. left. clear F1. induction (behind g k) as [|j l IH]; [discriminate F2|]. simpl in F2.
            destruct (existsb (Nat.eqb j) (entered s)) eqn:M.
            + destruct (IH F2) as (i & J & X). exists i. split; [right; exact J|exact X].
            + exists j. split; [left; reflexivity|]. intros J. apply Mem in J. congruence. }
        { left. induction (after g k) as [|j l IH]; [discriminate F1|]. simpl in F1. destruct (endedb s j) eqn:M.
          - destruct (IH F1) as (i & J & X). exists i. split; [right; exact J|exact X].
          - exists j. split; [left; reflexivity|]. intros J. apply endedb_ended in J. congruence. }
Qed.

(* Where a kernel waits in a queue, some kernel is next; and it is served where there is room for it. *)
Lemma some_kernel_next s k : In k (entered s) -> assigned s k < blocks_of g k ->
  exists h, next_kernel g s h /\ (queue g h = queue g k \/ above g (queue g h) (queue g k)).
Proof.
  remember (level g (queue g k)) as n eqn:E. revert k E. induction n as [n IH] using (well_founded_induction lt_wf).
  intros k E I L. destruct (existsb (fun j => (assigned s j <? blocks_of g j) &&
    ((owner g (queue g j) =? owner g (queue g k)) && (level g (queue g j) <? level g (queue g k)))) (entered s)) eqn:B.
  - apply existsb_exists in B. destruct B as (j & J & B). apply andb_prop in B. destruct B as [A B].
    apply andb_prop in B. destruct B as [O B]. apply Nat.eqb_eq in O. apply Nat.ltb_lt in A, B.
    destruct (IH (level g (queue g j)) ltac:(lia) j eq_refl J A) as (h & N & Q). exists h. split; [exact N|]. right.
    unfold above in *. destruct Q as [->|[Oh Lh]]; [tauto|]. split; [congruence|lia].
  - assert (W : In k (waiting g s (queue g k))).
    { apply filter_In. split; [exact I|]. rewrite Nat.eqb_refl. apply Nat.ltb_lt, L. }
    destruct (waiting g s (queue g k)) as [|h rest] eqn:F; [destruct W|].
    assert (Q : In h (waiting g s (queue g k))) by (rewrite F; left; reflexivity).
    apply filter_In in Q. destruct Q as [_ Q]. apply andb_prop in Q. destruct Q as [Q _]. apply Nat.eqb_eq in Q.
    exists h. split; [|left; exact Q]. split; [exists rest; rewrite Q; exact F|]. rewrite Q. intros q [O Lv].
    destruct (waiting g s q) as [|j l] eqn:G; [reflexivity|]. exfalso.
    assert (J : In j (waiting g s q)) by (rewrite G; left; reflexivity). apply filter_In in J. destruct J as [J X].
    apply andb_prop in X. destruct X as [X Y]. apply Nat.eqb_eq in X. subst q.
    assert (T : existsb (fun j => (assigned s j <? blocks_of g j) &&
      ((owner g (queue g j) =? owner g (queue g k)) && (level g (queue g j) <? level g (queue g k)))) (entered s) = true);
      [|congruence].
    apply existsb_exists. exists j. split; [exact J|]. rewrite Y. apply Nat.eqb_eq in O. apply Nat.ltb_lt in Lv.
    rewrite O, Lv. reflexivity.
Qed.
Lemma served s h : next_kernel g s h -> room g h (resident g s) -> exists t, step g s t.
Proof. intros N (sms & L & T & P). eexists. apply (Assign g s h sms N L T P). Qed.
(* Either some kernel is next, or every kernel that has entered has all its blocks. *)
Lemma next_or_none s : (exists h, next_kernel g s h) \/
  (forall k, In k (entered s) -> blocks_of g k <= assigned s k).
Proof.
  destruct (existsb (fun k => assigned s k <? blocks_of g k) (entered s)) eqn:B.
  - left. apply existsb_exists in B. destruct B as (k & I & B). apply Nat.ltb_lt in B.
    destruct (some_kernel_next s k I B) as (h & N & _). exists h. exact N.
  - right. intros k I. apply Nat.nlt_ge. intros L. assert (T : existsb (fun k => assigned s k <? blocks_of g k)
      (entered s) = true); [|congruence]. apply existsb_exists. exists k. split; [exact I|apply Nat.ltb_lt, L].
Qed.
Lemma in_resident s x : In x (resident g s) ->
  exists b, In b (blocks s) /\ over g b = false /\ of b = fst x /\ on b = snd x.
Proof.
  unfold resident. intros I. apply in_map_iff in I. destruct I as (b & <- & I). apply filter_In in I.
  destruct I as [I O]. exists b. apply negb_true_iff in O. tauto.
Qed.
Lemma resident_few s k : count (fun x => fst x =? k) (resident g s) <= assigned s k.
Proof.
  unfold resident, assigned. rewrite count_map. simpl. rewrite count_filter. apply count_le. intros b _ E.
  apply andb_prop in E. tauto.
Qed.
(* What has ended has sent all that it sends, so a wait that what has ended before satisfies keeps no block. *)
Lemma all_sent_reached s c js : proper s -> NoDup js -> (forall j, In j js -> ended g s j) ->
  all_sent g c js <= counter g s c.
Proof.
  intros P N E. apply (counter_of g s c js); [exact N| |].
  - intros j J. destruct (ended_all s j P (E j J)). right. lia.
  - intros j b J Ib Eb. destruct (ended_all s j P (E j J)) as [_ X]. apply sent_more, Nat.lt_le_incl, (X b Ib Eb).
Qed.
Lemma settled_reached s k c v : proper s -> In k (entered s) -> settled g k c v -> v <= counter g s c.
Proof.
  intros P I (js & N & B & V). eapply Nat.le_trans; [exact V|]. apply (all_sent_reached s c js P N).
  intros j J. apply (before_ended s j k P I (B j J)).
Qed.
(* Where nothing can enter, and all that entered has ended, all has ended. *)
Lemma all_entered_all_ended s : in_some_order g -> proper s ->
  none_enters s -> (forall k, In k (entered s) -> ended g s k) -> all_ended g s.
Proof.
  intros (order & Wf & O) P NE E k. induction k as [k IH] using (well_founded_induction Wf). intros I.
  destruct (enteredb s k) as [J|J]; [apply (E k J)|]. exfalso. destruct (O k I) as [Oj Oc].
  destruct (NE k I J) as [(j & A & N)|[(j & A & N)|(c & v & A & N)]].
  - apply N, (IH j (Oj j (or_introl A))), (sane_after g S k j I A).
  - assert (X := IH j (Oj j (or_intror A)) (sane_behind g S k j I A)). apply N, (ended_entered s j P); [|exact X].
    apply (sane_behind g S k j I A).
  - destruct (Oc c v A) as (js & Once & Js & V). assert (X : all_sent g c js <= counter g s c); [|lia].
    apply (all_sent_reached s c js P Once). intros j B. apply (IH j); apply (Js j B).
Qed.

(* Where no run stands still, all ends, whichever step is taken each time. *)
Inductive sure_to_end (s : state) : Prop :=
| Has_ended : all_ended g s -> sure_to_end s
| Will_end : (exists t, step g s t) -> (forall t, step g s t -> sure_to_end t) -> sure_to_end s.
Theorem all_ends_where_nothing_stands_still :
  (forall n s, run g n s -> all_ended g s \/ exists t, step g s t) -> forall n s, run g n s -> sure_to_end s.
Proof.
  intros H n s R. remember (longest - n) as m eqn:E. revert n s R E. induction m as [m IH] using
    (well_founded_induction lt_wf). intros n s R E. destruct (H n s R) as [D|T]; [apply (Has_ended s D)|].
  apply (Will_end s T). intros t St. assert (R' := Then g n s t R St). assert (L := runs_are_finite _ _ R').
  apply (IH (longest - Datatypes.S n) ltac:(lia) (Datatypes.S n) t R' eq_refl).
Qed.
End Runs.
