(* No standstill where there is always room: docs/hang.md, sure room. *)
From Coq Require Import List Arith Bool Lia Relations.
Import ListNotations.
From gpusched Require Import barriers barrier_runs barrier_alone.

(* What all blocks of [j] have sent to counter [c] by points of smaller ranks than [r]. *)
Definition sent_below (g : system) (rank : nat -> nat -> nat) (c r j : nat) : nat :=
  count (fun q => raises g j c q && (rank j q <? r)) (seq 0 (length (points g j))).
(* None of these kernels has to end before another of them begins: all of them may be there at once. *)
Definition apart (g : system) (ks : list nat) : Prop := forall i j, In i ks -> In j ks -> ~ ended_before g i j.

(* Kernels of [W] wait for one another, the others for nothing but what has ended before. [D] has all of [W] and whatever
   else these depend on: what is in their queues, or in more urgent ones of the same owner; what kernels of [D] are after
   or behind, or need; and what sends what kernels of [W] wait for. (All kernels may be [D].)

   Points of [D] have ranks, and so has the end of a kernel [k], as if it were the point after its last: ranks grow along
   a kernel, from the end of a kernel to what is after it, and from the beginning of a kernel to that of what is behind it
   in its channel. What a wait of [W] is for, and what a kernel of [D] needs before it enters, is sent by points of smaller
   ranks. And however blocks of [W] came to be on the SMs, a group of [k] not among them, there is room for the next group
   of [k]. Of a kernel that waits for nothing that runs beside it, at least a group is missing too (of a cooperative one,
   all): else it could go on. The kernels that are not of [D] need no more than to fit the empty GPU. *)
Record sure_room (g : system) (D W : nat -> bool) (rank : nat -> nat -> nat) : Prop := {
  waits_depend : forall k, In k (kernels g) -> W k = true -> D k = true;
  queues_depend : forall k j, In k (kernels g) -> In j (kernels g) -> D k = true ->
    queue g j = queue g k \/ above g (queue g j) (queue g k) -> D j = true;
  ranks_grow : forall k p, In k (kernels g) -> D k = true -> p < length (points g k) -> rank k p < rank k (S p);
  ranks_after : forall k j, In k (kernels g) -> D k = true -> In j (after g k) ->
    D j = true /\ rank j (length (points g j)) < rank k 0;
  ranks_behind : forall k j, In k (kernels g) -> D k = true -> In j (behind g k) -> D j = true /\ rank j 0 < rank k 0;
  ranks_needs : forall k c v, In k (kernels g) -> D k = true -> In (c, v) (needs g k) ->
    v <= list_sum (map (fun j => blocks_of g j * sent_below g rank c (rank k 0) j) (filter D (kernels g)));
  ranks_await : forall k p c v, In k (kernels g) -> W k = true -> nth_error (points g k) p = Some (Await c v) ->
    v <= list_sum (map (fun j => blocks_of g j * sent_below g rank c (rank k p) j) (filter D (kernels g)));
  others_never_wait : forall k, In k (kernels g) -> W k = false -> never_waits g k;
  always_room : forall k l, In k (kernels g) -> D k = true -> placement g l ->
    (forall x, In x l -> In (fst x) (kernels g) /\ W (fst x) = true) ->
    (forall j, count (fun x => fst x =? j) l <= blocks_of g j) ->
    count (fun x => fst x =? k) l + group g k <= blocks_of g k ->
    (forall j, In j (map fst l) -> waits_for g (ended_before g) j ->
      count (fun x => fst x =? j) l + group g j <= blocks_of g j) ->
    apart g (k :: map fst l) -> room g k l;
  others_fit : forall k, In k (kernels g) -> D k = false -> room g k [];
  others_order : in_some_order g
}.

Section Sure_room.
Variables (g : system) (D W : nat -> bool) (rank : nat -> nat -> nat).
Hypothesis S : sane g.
Hypothesis R : sure_room g D W rank.

Lemma ranks_along k p q : In k (kernels g) -> D k = true -> q <= length (points g k) -> p <= q -> rank k p <= rank k q.
Proof.
  intros I Dk Q L. induction q as [|q IH].
  - replace p with 0 by lia. lia.
  - destruct (Nat.eq_dec p (Datatypes.S q)) as [->|N]; [lia|].
    assert (X := ranks_grow _ _ _ _ R k q I Dk ltac:(lia)). specialize (IH ltac:(lia) ltac:(lia)). lia.
Qed.
(* Signals of smaller ranks are sent by a block that has passed the points of smaller ranks. *)
Lemma sent_passed c r j m : (forall q, q < length (points g j) -> rank j q < r -> q < m) ->
  sent_below g rank c r j <= sent g j c m.
Proof.
  intros H. apply (NoDup_incl_length (NoDup_filter _ (seq_NoDup _ _))). intros q I. apply filter_In in I.
  destruct I as [I F]. apply andb_prop in F. destruct F as [F L]. apply Nat.ltb_lt in L. apply in_seq in I.
  apply filter_In. split; [|exact F]. apply in_seq. specialize (H q ltac:(lia) L). lia.
Qed.

Section Still.
Variable s : state.
Hypothesis P : proper g s.
Hypothesis NB : no_block_passes g s.
Hypothesis NE : none_enters g s.

(* The blocks that are on SMs are of [W]. *)
Lemma others_are_over b : In b (blocks s) -> over g b = false -> W (of b) = true.
Proof.
  intros I O. destruct (W (of b)) eqn:F; [reflexivity|]. exfalso. destruct (NB b I O) as (c & v & E & L).
  assert (Ie := proper_of g s P b I). assert (X := others_never_wait _ _ _ _ R _ (proper_known g s P _ Ie) F _ c v E).
  assert (Y := settled_reached g S s _ c v P Ie X). lia.
Qed.
Lemma room_for_next h : D h = true -> next_kernel g s h -> room g h (resident g s).
Proof.
  intros Dh N. destruct (next_facts g s h N) as (I & L & _).
  assert (There : forall x, In x (resident g s) -> In (fst x) (entered s) /\ ~ ended g s (fst x) /\ W (fst x) = true).
  { intros x J. destruct (in_resident g s x J) as (b & Ib & O & <- & _). split; [apply (proper_of g s P b Ib)|].
    split; [|apply (others_are_over b Ib O)]. intros E.
    destruct (ended_all g s _ P E) as [_ X]. specialize (X b Ib eq_refl). unfold over in O. apply Nat.ltb_ge in O. lia. }
  apply (always_room _ _ _ _ R).
  - apply (proper_known g s P h I).
  - exact Dh.
  - apply (proper_placed g s P).
  - intros x J. destruct (There x J) as (A & _ & B). split; [apply (proper_known g s P), A|exact B].
  - intros j. eapply Nat.le_trans; [apply resident_few|apply (proper_few g s P)].
  - assert (X := resident_few g s h). destruct (group_left g S s h P (proper_known g s P h I) L). lia.
  - intros j J Wa. apply in_map_iff in J. destruct J as (x & <- & J). destruct (There x J) as (A & B & _).
    assert (Not : ~ blocks_of g (fst x) <= assigned s (fst x)).
    { intros F. apply B, (waits_for_ended g s P NB _ _ F Wa). intros j. apply (before_ended g S s j _ P A). }
    assert (X := resident_few g s (fst x)). apply Nat.nle_gt in Not.
    destruct (group_left g S s (fst x) P (proper_known g s P _ A) Not). lia.
  - assert (Here : forall k, In k (h :: map fst (resident g s)) -> In k (entered s) /\ ~ ended g s k).
    { intros k [<-|J].
      - split; [exact I|]. intros E. destruct (ended_all g s h P E). lia.
      - apply in_map_iff in J. destruct J as (x & <- & J). destruct (There x J) as (A & B & _). tauto. }
    intros i j Ii Ij B. destruct (Here i Ii) as [_ Ni], (Here j Ij) as [Ej _].
    apply Ni, (before_ended g S s i j P Ej B).
Qed.
(* What of [D] has smaller ranks than [r] is passed by all blocks of what it is of. *)
Definition passed_below (r : nat) : Prop :=
  forall j q, rank j q < r -> In j (kernels g) -> D j = true -> q <= length (points g j) ->
  In j (entered s) /\ forall b, In b (blocks s) -> of b = j -> q < passed b.
Hypothesis A : forall k, In k (entered s) -> D k = true -> blocks_of g k <= assigned s k.
Lemma sent_below_reached c r : passed_below r ->
  list_sum (map (fun j => blocks_of g j * sent_below g rank c r j) (filter D (kernels g))) <= counter g s c.
Proof.
  intros IH. apply counter_of; [apply NoDup_filter, (sane_kernels g S)| |].
  - intros j Ij. apply filter_In in Ij. destruct Ij as [Ij Dj].
    destruct (sent_below g rank c r j) eqn:Z; [left; reflexivity|right].
    destruct (count_some (fun q => raises g j c q && (rank j q <? r)) (seq 0 (length (points g j)))) as (q & Iq & Fq);
      [fold (sent_below g rank c r j); rewrite Z; apply Nat.lt_0_succ|].
    apply in_seq in Iq. apply andb_prop in Fq. destruct Fq as [_ Fq]. apply Nat.ltb_lt in Fq.
    apply A; [|exact Dj]. apply (IH j q Fq Ij Dj). lia.
  - intros j b Ij Ib Eb. apply filter_In in Ij. destruct Ij as [Ij Dj]. apply sent_passed. intros q Lq Rq.
    apply (IH j q Rq Ij Dj); [lia|assumption..].
Qed.
(* If all blocks of what has entered are assigned, the point of the smallest rank that is not passed keeps nobody. *)
Lemma all_is_passed r : forall k p, rank k p = r -> In k (kernels g) -> D k = true -> p <= length (points g k) ->
  In k (entered s) /\ forall b, In b (blocks s) -> of b = k -> p < passed b.
Proof.
  induction r as [r IH] using (well_founded_induction lt_wf). intros k p E I Dk L.
  assert (Below : passed_below r) by (intros j q Rq; apply (IH (rank j q) Rq j q eq_refl)). clear IH.
  assert (Le := ranks_along k 0 p I Dk L (Nat.le_0_l p)). assert (J : In k (entered s)).
  { destruct (enteredb s k) as [J|J]; [exact J|]. exfalso.
    destruct (NE k I J) as [(j & Aj & N)|[(j & Aj & N)|(c & v & Ac & N)]].
    - destruct (ranks_after _ _ _ _ R k j I Dk Aj) as [Dj X].
      destruct (Below j (length (points g j)) ltac:(lia) (sane_after g S k j I Aj) Dj (Nat.le_refl _)) as [Ej Oj].
      apply N, all_are_ended; [apply (A j Ej Dj)|exact Oj].
    - destruct (ranks_behind _ _ _ _ R k j I Dk Aj) as [Dj X].
      destruct (Below j 0 ltac:(lia) (sane_behind g S k j I Aj) Dj (Nat.le_0_l _)) as [Ej _]. apply (N Ej).
    - assert (V := ranks_needs _ _ _ _ R k c v I Dk Ac). assert (X := sent_below_reached c (rank k 0)).
      specialize (X ltac:(intros j q Rq; apply Below; lia)). lia. }
  split; [exact J|]. intros b Ib Eb. apply Nat.nle_gt. intros Lb.
  assert (O : over g b = false) by (apply Nat.ltb_ge; rewrite Eb; lia).
  destruct (NB b Ib O) as (c & v & F & Lc). assert (Wk := others_are_over b Ib O). rewrite Eb in F, Wk.
  assert (V := ranks_await _ _ _ _ R k _ c v I Wk F). assert (Lr := ranks_along k _ p I Dk L Lb).
  assert (X := sent_below_reached c (rank k (passed b))). specialize (X ltac:(intros j q Rq; apply Below; lia)). lia.
Qed.
Lemma all_of_it_ended k : In k (kernels g) -> D k = true -> ended g s k.
Proof.
  intros I Dk. destruct (all_is_passed _ k _ eq_refl I Dk (Nat.le_refl _)) as [J O].
  apply all_are_ended; [apply (A k J Dk)|exact O].
Qed.
End Still.

Theorem sure_room_cannot_stand_still n s : run g n s -> all_ended g s \/ exists t, step g s t.
Proof.
  intros Rn. assert (P := run_proper g S n s Rn). destruct (goes_on_or_not g s) as [T|[NB NE]]; [right; exact T|].
  destruct (existsb (fun k => D k && (assigned s k <? blocks_of g k)) (entered s)) eqn:B.
  - (* a kernel of [D] waits in a queue: there is room for the next of this or a more urgent one *)
    right. apply existsb_exists in B. destruct B as (k & I & B). apply andb_prop in B. destruct B as [Dk B].
    apply Nat.ltb_lt in B. destruct (some_kernel_next g s k I B) as (h & N & Q).
    assert (Kh := proper_known g s P h (proj1 (next_facts g s h N))).
    apply (served g s h N), (room_for_next s P NB h); [|exact N].
    apply (queues_depend _ _ _ _ R k h (proper_known g s P k I) Kh Dk Q).
  - (* none does: all of them have ended, and the GPU is empty *)
    assert (A : forall k, In k (entered s) -> D k = true -> blocks_of g k <= assigned s k).
    { intros k I Dk. apply Nat.nlt_ge. intros L. assert (T : existsb (fun k => D k && (assigned s k <? blocks_of g k))
        (entered s) = true); [|congruence]. apply existsb_exists. exists k. split; [exact I|]. rewrite Dk.
      apply Nat.ltb_lt, L. }
    assert (E := all_of_it_ended s P NB NE A).
    assert (Z : resident g s = []).
    { apply none_resident. intros b Ib. destruct (over g b) eqn:O; [reflexivity|]. rewrite <- O.
      assert (Kb := proper_known g s P _ (proper_of g s P b Ib)).
      apply (ended_over g s P b Ib), (E _ Kb), (waits_depend _ _ _ _ R _ Kb), (others_are_over s P NB b Ib O). }
    destruct (next_or_none g s) as [[h N]|F].
    + right. apply (served g s h N). rewrite Z. destruct (next_facts g s h N) as (Ih & Lh & _).
      assert (Kh := proper_known g s P h Ih). apply (others_fit _ _ _ _ R h Kh).
      destruct (D h) eqn:Dh; [|reflexivity]. exfalso. destruct (ended_all g s h P (E h Kh Dh)). lia.
    + left. apply (all_entered_all_ended g S s (others_order _ _ _ _ R) P NE). intros k I.
      apply all_are_ended; [apply (F k I)|]. intros b Ib Eb. destruct (over g b) eqn:O.
      * unfold over in O. rewrite Eb in O. apply Nat.ltb_lt, O.
      * exfalso. assert (X := others_are_over s P NB b Ib O).
        assert (Kb := proper_known g s P _ (proper_of g s P b Ib)).
        assert (Y := ended_over g s P b Ib (E _ Kb (waits_depend _ _ _ _ R _ Kb X))). congruence.
Qed.
End Sure_room.

(* A way to see that there is room. Blocks weigh something, and what keeps [k] out of an SM weighs no less than a share.
   Then blocks that all together weigh less than the shares of the SMs that [k] may use leave room on one of these. *)
Lemma one_weighs (weight : nat -> nat) i js : NoDup js ->
  list_sum (map (fun j => weight j * (if i =? j then 1 else 0)) js) <= weight i.
Proof.
  intros N. eapply Nat.le_trans; [|apply (one_share (weight i) i js N)]. apply sum_le. intros j _.
  destruct (i =? j) eqn:E; [|lia]. apply Nat.eqb_eq in E. subst j. lia.
Qed.
Lemma weighs_on (weight : nat -> nat) js sm l : NoDup js ->
  list_sum (map (fun j => weight j * there sm l j) js) <=
  list_sum (map (fun x => if snd x =? sm then weight (fst x) else 0) l).
Proof.
  intros N. induction l as [|[i sm'] l IH].
  - simpl. assert (Z : list_sum (map (fun j => weight j * 0) js) = 0); [|exact (Nat.eq_le_incl _ _ Z)].
    clear N.
    induction js as [|j js IH]; simpl; lia.
  - assert (E : list_sum (map (fun j => weight j * there sm ((i, sm') :: l) j) js) =
      list_sum (map (fun j => (if sm' =? sm then weight j * (if i =? j then 1 else 0) else 0) +
        weight j * there sm l j) js)).
    { f_equal. apply map_ext. intros j. unfold there. rewrite count_cons. simpl.
      destruct (i =? j), (sm' =? sm); simpl; lia. }
    rewrite E, sum_add. simpl. destruct (sm' =? sm).
    + assert (X := one_weighs weight i js N). lia.
    + assert (Z : list_sum (map (fun _ : nat => 0) js) = 0); [clear; induction js; simpl; lia|]. lia.
Qed.
Lemma weighs_in_all (weight : nat -> nat) sms l : NoDup sms ->
  list_sum (map (fun sm => list_sum (map (fun x => if snd x =? sm then weight (fst x) else 0) l)) sms) <=
  list_sum (map (fun x => weight (fst x)) l).
Proof.
  intros N. induction l as [|x l IH]; simpl.
  - assert (Z : list_sum (map (fun _ : nat => 0) sms) = 0); [|lia]. clear. induction sms; simpl; lia.
  - rewrite (sum_add (fun sm => if snd x =? sm then weight (fst x) else 0)).
    assert (X := one_share (weight (fst x)) (snd x) sms N). lia.
Qed.
Theorem light_blocks_leave_room_for_one g k l sms weight share :
  NoDup (kernels g) -> NoDup sms -> (forall sm, In sm sms -> may_use g k sm) -> group g k = 1 ->
  (forall sm, together g k [sm]) ->
  (forall sm a, In sm sms ->
    fits g sm a k \/ share <= list_sum (map (fun j => weight j * a j) (kernels g))) ->
  placement g l -> list_sum (map (fun x => weight (fst x)) l) < share * length sms -> room g k l.
Proof.
  intros Nk Ns U G T F P L.
  assert (X : (exists sm, In sm sms /\ fits g sm (there sm l) k) \/
    share * length sms <= list_sum (map (fun sm => list_sum (map (fun j => weight j * there sm l j) (kernels g))) sms)).
  { clear - F. induction sms as [|sm sms IH]; simpl; [right; lia|].
    destruct (F sm (there sm l) (or_introl eq_refl)) as [Y|Y]; [left; exists sm; tauto|].
    destruct (IH (fun z a I => F z a (or_intror I))) as [(z & I & Z)|Z]; [left; exists z; tauto|right; lia]. }
  destruct X as [(sm & I & Fs)|X].
  - exists [sm]. split; [symmetry; exact G|]. split; [apply T|]. simpl. constructor; [exact P|apply (U sm I)|exact Fs].
  - exfalso. assert (Y := weighs_in_all weight sms l Ns).
    assert (Z : list_sum (map (fun sm => list_sum (map (fun j => weight j * there sm l j) (kernels g))) sms) <=
      list_sum (map (fun sm => list_sum (map (fun x => if snd x =? sm then weight (fst x) else 0) l)) sms)); [|lia].
    apply sum_le. intros sm _. apply (weighs_on weight (kernels g) sm l Nk).
Qed.
