(* No standstill where each kernel that waits fits the GPU alone, and these are cooperative or share one queue:
   docs/hang.md. *)
From Coq Require Import List Arith Bool Lia Relations.
Import ListNotations.
From gpusched Require Import barriers barrier_runs.

(* While only blocks of [k] are there, and not all of them, there is room for the next. *)
Definition room_alone (g : system) (k : nat) : Prop :=
  forall l, placement g l -> (forall x, In x l -> fst x = k) -> length l + group g k <= blocks_of g k -> room g k l.
(* All blocks of [k] fit the empty GPU in some way. That is enough for room, if blocks are assigned one by one or all at
   once; see [fits_alone_is_room_alone]. *)
Definition fits_alone (g : system) (k : nat) : Prop :=
  exists sms, length sms = blocks_of g k /\ placement g (map (pair k) sms) /\
    (group g k = blocks_of g k /\ together g k sms \/ group g k = 1 /\ forall sm, together g k [sm]).
(* [k] waits for no more than all its own blocks have sent before they come to the wait, and all blocks of certain
   kernels in all. *)
Definition waits_for (g : system) (these : nat -> nat -> Prop) (k : nat) : Prop :=
  forall p c v, nth_error (points g k) p = Some (Await c v) ->
  exists js, NoDup js /\ ~ In k js /\ (forall j, In j js -> these j k) /\
    v <= blocks_of g k * sent g k c p + all_sent g c js.
(* What has ended before [k] enters, or enters the same queue before. *)
Definition earlier (g : system) (j k : nat) : Prop :=
  ended_before g j k \/ (queue g j = queue g k /\ entered_before g j k).

(* All kernels that wait are in one queue [q], but for cooperative ones that wait for nothing that runs beside them. What
   is in more urgent queues of the same owner has room beside any part of any one kernel of [q] that waits; if there are
   none, nothing is asked here. *)
Record one_queue (g : system) (q : nat) : Prop := {
  queue_order : in_some_order g;
  room_above : forall k j l, In k (kernels g) -> In j (kernels g) -> above g (queue g k) q -> queue g j = q ->
    ~ never_waits g j -> placement g l -> (forall x, In x l -> fst x = j) ->
    length l + group g j <= blocks_of g j -> room g k l;
  in_one_queue : forall k, In k (kernels g) ->
    (never_waits g k /\ room g k []) \/
    (room_alone g k /\ (queue g k = q /\ waits_for g (earlier g) k \/
                       group g k = blocks_of g k /\ waits_for g (ended_before g) k))
}.
(* All kernels that wait are cooperative, and wait for nothing that runs beside them. Each fits the empty GPU. *)
Record cooperative (g : system) : Prop := {
  cooperative_order : in_some_order g;
  are_cooperative : forall k, In k (kernels g) ->
    room g k [] /\ (never_waits g k \/ group g k = blocks_of g k /\ waits_for g (ended_before g) k)
}.

Section Alone.
Variable g : system.
Hypothesis S : sane g.

(* Of more pigeons than before there are more in some hole. *)
Lemma more_somewhere a : forall b : list nat, length b < length a ->
  exists x, count (fun y => y =? x) b < count (fun y => y =? x) a.
Proof.
  induction a as [|x a IH]; simpl; intros b L; [lia|].
  destruct (in_dec Nat.eq_dec x b) as [I|N].
  - apply in_split in I. destruct I as (b1 & b2 & ->). rewrite app_length in L. simpl in L.
    destruct (IH (b1 ++ b2)) as (z & Z); [rewrite app_length; lia|]. exists z.
    rewrite count_app in *. rewrite !count_cons. lia.
  - exists x. rewrite (count_none _ b); [rewrite count_cons, Nat.eqb_refl; lia|]. intros y I. apply Nat.eqb_neq.
    intros ->. apply (N I).
Qed.
(* Where more blocks of [k] alone can be, one more than [m] can. *)
Lemma one_more_fits k sm m l : placement g l -> (forall x, In x l -> fst x = k) ->
  m < count (fun x => snd x =? sm) l -> may_use g k sm /\ exists a, a k = m /\ fits g sm a k.
Proof.
  induction l as [|[k' sm'] l IH]; intros P O L; [inversion L|]. inversion P; subst.
  assert (E := O _ (or_introl eq_refl)). simpl in E. subst k'. rewrite count_cons in L. simpl in L.
  assert (O' : forall x, In x l -> fst x = k) by (intros x I; apply O; right; exact I).
  destruct (Nat.lt_ge_cases m (count (fun x => snd x =? sm) l)) as [M|M]; [apply IH; assumption|].
  destruct (sm' =? sm) eqn:Q; [|lia]. apply Nat.eqb_eq in Q. subst sm'. split; [assumption|].
  exists (there sm l). split; [|assumption].
  assert (X : there sm l k = count (fun x => snd x =? sm) l); [|lia]. apply Nat.le_antisymm; apply count_le.
  - intros x _ Y. apply andb_prop in Y. tauto.
  - intros x I Y. rewrite Y, (O' x I), Nat.eqb_refl. reflexivity.
Qed.
(* If all blocks of a kernel fit the empty GPU in some way, fewer of them alone leave room for the next, however they
   came to be there: on some SM there are fewer than in that way. *)
Theorem fits_alone_is_room_alone k : In k (kernels g) -> fits_alone g k -> room_alone g k.
Proof.
  intros Ik (f & Lf & Pf & T) l P O L. unfold room. assert (B := sane_blocks g S k Ik). destruct T as [[G T]|[G T]].
  - assert (Z : l = []) by (destruct l; [reflexivity|simpl in L; lia]). subst l. exists f. rewrite app_nil_r.
    split; [congruence|]. split; assumption.
  - assert (Of : forall x, In x (map (pair k) f) -> fst x = k).
    { intros x I. apply in_map_iff in I. destruct I as (sm & <- & _). reflexivity. }
    destruct (more_somewhere f (map snd l)) as (sm & M); [rewrite map_length; lia|]. rewrite count_map in M.
    destruct (one_more_fits k sm (count (fun x => snd x =? sm) l) _ Pf Of) as (U & a & A & F).
    { rewrite count_map. exact M. }
    exists [sm]. split; [symmetry; exact G|]. split; [apply T|]. simpl. constructor; [exact P|exact U|].
    eapply (sane_fits g S); [|exact F]. intros j. destruct (Nat.eq_dec j k) as [->|N].
    + rewrite A. apply count_le. intros x _ Y. apply andb_prop in Y. tauto.
    + unfold there. rewrite count_none; [lia|]. intros x I. rewrite (O x I). apply andb_false_iff. left.
      apply Nat.eqb_neq. congruence.
Qed.
Lemma room_at_first k : In k (kernels g) -> room_alone g k -> room g k [].
Proof. intros I R. apply R; [constructor|intros x []|]. simpl. apply (group_some g S k I). Qed.

Section Still.
Variable s : state.
Hypothesis P : proper g s.
Hypothesis NB : no_block_passes g s.
Hypothesis NE : none_enters g s.

Lemma never_waits_over b : In b (blocks s) -> never_waits g (of b) -> over g b = true.
Proof.
  intros I N. destruct (over g b) eqn:O; [reflexivity|]. exfalso. destruct (NB b I O) as (c & v & E & L).
  assert (Y := settled_reached g S s _ c v P (proper_of g s P b I) (N _ c v E)). lia.
Qed.
(* A kernel all of whose blocks are assigned, and that waits only for itself and for what has ended, has ended. *)
Lemma waits_for_ended k these : blocks_of g k <= assigned s k -> waits_for g these k ->
  (forall j, these j k -> ended g s j) -> ended g s k.
Proof.
  intros A Wa E. apply all_are_ended; [exact A|].
  assert (H : forall p, p <= length (points g k) -> forall b, In b (blocks s) -> of b = k -> p < passed b).
  { induction p as [p IH] using (well_founded_induction lt_wf). intros L b I Eb. apply Nat.nle_gt. intros Lb.
    assert (All : forall b', In b' (blocks s) -> of b' = k -> p <= passed b').
    { intros b' I' Eb'. destruct (Nat.le_gt_cases p (passed b')) as [X|X]; [exact X|].
      assert (Y := IH (passed b') X ltac:(lia) b' I' Eb'). lia. }
    assert (Ep : passed b = p) by (specialize (All b I Eb); lia).
    assert (O : over g b = false) by (apply Nat.ltb_ge; rewrite Eb; lia).
    destruct (NB b I O) as (c & v & N & V). rewrite Eb, Ep in N. destruct (Wa p c v N) as (js & Once & Nk & Js & Le).
    assert (X : list_sum (map (fun j => blocks_of g j * (if j =? k then sent g k c p else sent g j c (length (points g j))))
      (k :: js)) <= counter g s c).
    { apply counter_of; [constructor; assumption| |].
      - intros j [<-|J]; right; [exact A|]. destruct (ended_all g s j P (E j (Js j J))). lia.
      - intros j b' J I' Eb'. destruct (j =? k) eqn:Q.
        + apply Nat.eqb_eq in Q. subst j. rewrite Q. apply sent_more, (All b' I' Q).
        + apply Nat.eqb_neq in Q. destruct J as [->|J]; [congruence|].
          destruct (ended_all g s j P (E j (Js j J))) as [_ Y]. apply sent_more, Nat.lt_le_incl, (Y b' I' Eb'). }
    simpl in X. rewrite Nat.eqb_refl in X.
    replace (list_sum (map (fun j => blocks_of g j * (if j =? k then sent g k c p else sent g j c (length (points g j))))
      js)) with (all_sent g c js) in X; [lia|].
    unfold all_sent. f_equal. apply map_ext_in. intros j J. destruct (j =? k) eqn:Q; [|reflexivity].
    apply Nat.eqb_eq in Q. subst j. destruct (Nk J). }
  intros b I Eb. apply (H _ (Nat.le_refl _) b I Eb).
Qed.
(* On an empty GPU something goes on, or all has ended. *)
Lemma empty_gpu_goes_on : in_some_order g -> (forall k, In k (kernels g) -> room g k []) -> resident g s = [] ->
  all_ended g s \/ exists t, step g s t.
Proof.
  intros Wf Ro Z. destruct (next_or_none g s) as [[h N]|A].
  - right. apply (served g s h N). rewrite Z. apply Ro, (proper_known g s P), (next_facts g s h N).
  - left. apply (all_entered_all_ended g S s Wf P NE). intros k I. apply all_are_ended; [apply A, I|].
    intros b Ib Eb. destruct (over g b) eqn:O; [unfold over in O; rewrite Eb in O; apply Nat.ltb_lt, O|]. exfalso.
    assert (X : In (of b, on b) (resident g s)); [|rewrite Z in X; destruct X].
    apply (in_map (fun b => (of b, on b))), filter_In. rewrite O. split; [exact Ib|reflexivity].
Qed.
Lemma none_resident : (forall b, In b (blocks s) -> over g b = true) -> resident g s = [].
Proof.
  intros O. destruct (resident g s) as [|x l] eqn:E; [reflexivity|]. exfalso.
  destruct (in_resident g s x) as (b & I & F & _); [rewrite E; left; reflexivity|]. rewrite (O b I) in F. discriminate F.
Qed.
Lemma ended_over b : In b (blocks s) -> ended g s (of b) -> over g b = true.
Proof. intros I E. destruct (ended_all g s _ P E) as [_ X]. apply Nat.ltb_lt, (X b I eq_refl). Qed.
Lemma some_assigned b : In b (blocks s) -> 0 < assigned s (of b).
Proof. intros I. apply (count_in _ _ b I), Nat.eqb_refl. Qed.
(* If one block of a cooperative kernel is assigned, all are. *)
Lemma all_or_none b : In b (blocks s) -> group g (of b) = blocks_of g (of b) ->
  blocks_of g (of b) <= assigned s (of b).
Proof.
  intros I W. apply Nat.nlt_ge. intros L. assert (X := some_assigned b I).
  destruct (group_left g S s (of b) P (proper_known g s P _ (proper_of g s P b I)) L). lia.
Qed.

(* One queue: what entered it, and has all its blocks, has ended, from the first on. *)
Lemma queue_ended q : one_queue g q -> forall a rest k, entered s = a ++ rest -> In k a -> queue g k = q ->
  blocks_of g k <= assigned s k -> ended g s k.
Proof.
  intros Q. induction a as [|x a IH] using rev_ind; intros rest k E I Qk A; [destruct I|].
  rewrite <- app_assoc in E. simpl in E. apply in_app_iff in I. destruct I as [I|[->|[]]]; [apply (IH _ k E I Qk A)|].
  assert (Ik : In k (entered s)) by (rewrite E; apply in_app_iff; right; left; reflexivity).
  destruct (in_one_queue _ _ Q k (proper_known g s P k Ik)) as [[N _]|(_ & [[_ Wa]|[_ Wa]])].
  - apply all_are_ended; [exact A|]. intros b Ib Eb. assert (X : over g b = true).
    { apply never_waits_over; [exact Ib|rewrite Eb; exact N]. }
    unfold over in X. rewrite Eb in X. apply Nat.ltb_lt, X.
  - apply (waits_for_ended k _ A Wa). intros j [B|[Qj B]]; [apply (before_ended g S s j k P Ik B)|].
    assert (Pr := before_entered g s j k P Ik B).
    assert (J : In j a). { apply (precedes_prefix a k rest); [rewrite <- E; apply (proper_once g s P)|congruence]. }
    apply (IH _ j E J); [congruence|]. rewrite (proper_fifo g s P j k Pr Qj); [lia|].
    assert (X := sane_blocks g S k (proper_known g s P k Ik)). lia.
  - apply (waits_for_ended k _ A Wa). intros j B. apply (before_ended g S s j k P Ik B).
Qed.
(* A block that is not over is of a kernel of the queue. *)
Lemma not_over_queue q b : one_queue g q -> In b (blocks s) -> over g b = false ->
  queue g (of b) = q /\ room_alone g (of b) /\ ~ never_waits g (of b).
Proof.
  intros Q Ib O. assert (Ie := proper_of g s P b Ib).
  assert (Nw : ~ never_waits g (of b)) by (intros N; rewrite (never_waits_over b Ib N) in O; discriminate O).
  destruct (in_one_queue _ _ Q (of b) (proper_known g s P _ Ie)) as [[N _]|(F & [[Qb _]|[Wh Wa]])];
    [destruct (Nw N)|tauto|].
  assert (X : over g b = true); [|congruence]. apply (ended_over b Ib), (waits_for_ended _ (ended_before g)).
  - apply (all_or_none b Ib Wh).
  - exact Wa.
  - intros j. apply (before_ended g S s j _ P Ie).
Qed.
Lemma one_queue_goes_on q : one_queue g q -> all_ended g s \/ exists t, step g s t.
Proof.
  intros Q.
  assert (End : forall k, In k (entered s) -> queue g k = q -> blocks_of g k <= assigned s k -> ended g s k).
  { intros k I. apply (queue_ended q Q (entered s) []); [rewrite app_nil_r; reflexivity|exact I]. }
  assert (Ro : forall k, In k (kernels g) -> room g k []).
  { intros k I. destruct (in_one_queue _ _ Q k I) as [[_ X]|(F & _)]; [exact X|].
    apply (room_at_first k I F). }
  destruct (waiting g s q) as [|h rest] eqn:Wq.
  - (* nothing waits in it *)
    apply (empty_gpu_goes_on (queue_order _ _ Q) Ro), none_resident. intros b Ib. assert (Ie := proper_of g s P b Ib).
    destruct (over g b) eqn:O; [reflexivity|]. destruct (not_over_queue q b Q Ib O) as (Qb & _).
    rewrite <- O. apply (ended_over b Ib), (End _ Ie Qb). apply Nat.nlt_ge. intros L.
    assert (X : In (of b) (waiting g s q)); [|rewrite Wq in X; destruct X]. apply filter_In. split; [exact Ie|].
    rewrite Qb, Nat.eqb_refl. apply Nat.ltb_lt, L.
  - (* [h] is the first of it, and only its blocks are there *)
    right. assert (Ih : In h (waiting g s q)) by (rewrite Wq; left; reflexivity).
    apply filter_In in Ih. destruct Ih as [Ih Fh]. apply andb_prop in Fh. destruct Fh as [Qh Lh]. apply Nat.eqb_eq in Qh.
    apply Nat.ltb_lt in Lh. assert (Kh := proper_known g s P h Ih).
    assert (Own : forall b, In b (blocks s) -> over g b = false -> of b = h).
    { intros b Ib O. assert (Ie := proper_of g s P b Ib). destruct (not_over_queue q b Q Ib O) as (Qb & _).
      destruct (Nat.eq_dec (of b) h) as [E|E]; [exact E|]. exfalso.
      destruct (one_precedes (entered s) (of b) h Ie Ih E) as [Pr|Pr].
      - assert (F := first_left _ _ _ _ (of b) (proper_once g s P) Wq Pr). simpl in F. rewrite Qb, Nat.eqb_refl in F.
        simpl in F. apply Nat.ltb_ge in F. assert (X := ended_over b Ib (End _ Ie Qb F)). congruence.
      - assert (X := proper_fifo g s P h (of b) Pr ltac:(congruence) (some_assigned b Ib)). lia. }
    assert (Own' : forall x, In x (resident g s) -> fst x = h).
    { intros x I. destruct (in_resident g s x I) as (b & Ib & O & <- & _). apply (Own b Ib O). }
    assert (Few : length (resident g s) <= assigned s h).
    { eapply Nat.le_trans; [|apply (resident_few g)]. rewrite (count_all (fun x => fst x =? h)); [lia|]. intros x I.
      apply Nat.eqb_eq, (Own' x I). }
    destruct (some_kernel_next g s h Ih Lh) as (k & N & Qk).
    assert (Kk := proper_known g s P k (proj1 (next_facts g s k N))).
    apply (served g s k N). destruct (resident g s) as [|x l] eqn:Re; [apply Ro, Kk|].
    destruct (group_left g S s h P Kh Lh) as [_ Left]. assert (Pl := proper_placed g s P). rewrite Re in Pl.
    destruct (in_resident g s x) as (b & Ib & O & _); [rewrite Re; left; reflexivity|].
    destruct (not_over_queue q b Q Ib O) as (_ & F & Nw). rewrite (Own b Ib O) in F, Nw. destruct Qk as [Qk|Ab].
    + assert (E : k = h). { destruct N as [[r Wk] _]. rewrite Qk, Qh, Wq in Wk. injection Wk as -> _. reflexivity. }
      subst k. apply (F _ Pl Own'). lia.
    + apply (room_above _ _ Q k h _ Kk Kh); try assumption; [congruence|lia].
Qed.
Lemma cooperative_goes_on : cooperative g -> all_ended g s \/ exists t, step g s t.
Proof.
  intros C. apply (empty_gpu_goes_on (cooperative_order _ C)).
  - intros k I. apply (are_cooperative _ C k I).
  - apply none_resident. intros b Ib. assert (Ie := proper_of g s P b Ib).
    destruct (are_cooperative _ C (of b) (proper_known g s P _ Ie)) as [_ [N|[Wh Wa]]].
    + apply (never_waits_over b Ib N).
    + apply (ended_over b Ib), (waits_for_ended _ (ended_before g)); [|exact Wa|].
      * apply (all_or_none b Ib Wh).
      * intros j. apply (before_ended g S s j _ P Ie).
Qed.
End Still.

Theorem one_queue_cannot_stand_still q n s : one_queue g q -> run g n s -> all_ended g s \/ exists t, step g s t.
Proof.
  intros Q R. destruct (goes_on_or_not g s) as [T|[NB NE]]; [right; exact T|].
  apply (one_queue_goes_on s (run_proper g S n s R) NB NE q Q).
Qed.
(* Where nobody waits it is enough that each kernel fits the empty GPU. *)
Theorem without_waits_nothing_stands_still n s : in_some_order g ->
  (forall k, In k (kernels g) -> never_waits g k /\ room g k []) -> run g n s -> all_ended g s \/ exists t, step g s t.
Proof.
  intros O N R. destruct (goes_on_or_not g s) as [T|[NB NE]]; [right; exact T|].
  apply (cooperative_goes_on s (run_proper g S n s R) NB NE). split; [exact O|]. intros k I.
  split; [|left]; apply (N k I).
Qed.
Theorem cooperative_cannot_stand_still n s : cooperative g -> run g n s -> all_ended g s \/ exists t, step g s t.
Proof.
  intros C R. destruct (goes_on_or_not g s) as [T|[NB NE]]; [right; exact T|].
  apply (cooperative_goes_on s (run_proper g S n s R) NB NE C).
Qed.
End Alone.
