(* Jobs whose hosts sleep and wait, wherever their releases are: each job has a bound on its response, and of other jobs
   only what may be left by these bounds counts. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial busy choices waits shared heads paths others ends.

(* A run that is given by its steps ends in one state, and has one at each of its points. *)
Lemma one_end g a xs s : steps g a xs s -> forall t, steps g a xs t -> s = t.
Proof.
  induction 1 as [s|s t u x xs St H IH]; intros v Hv; inversion Hv; subst; [reflexivity|].
  match goal with E : step g s x ?w |- _ => rewrite <- (a_step_leads_to_one_state g s x t w St E) in * end.
  apply IH. assumption.
Qed.
Lemma midway g ys xs a s : steps g a (xs ++ ys) s -> exists u, steps g a xs u /\ steps g u ys s.
Proof.
  revert a. induction xs as [|x xs IH]; intros a H; [exists a; split; [constructor|exact H]|].
  simpl in H. inversion H; subst. match goal with E : steps g _ (xs ++ ys) _ |- _ => destruct (IH _ E) as (u & A & B) end.
  exists u. split; [eapply Go; eassumption|exact B].
Qed.

Section Programs.
Variables (g : device) (top : nat) (blocks : nat -> nat) (weight : operation -> nat) (one : nat).
Local Notation upper := (upper g top).
Local Notation own := (own top blocks weight one).
(* Any run. *)
Variable run : list label.
Definition launched_in (o : operation) : Prop := In o (launches run).
Hypothesis C : closed g top blocks launched_in.
Hypothesis Heavy : heavy g top launched_in weight one.
Hypothesis Positive : 0 < one.
Hypothesis Copies : forall o p e l m, launched_in o -> launched_in p -> upper o = true ->
  what o = Copy e l -> what p = Copy e m -> one <= weight p.

(* Of each operation: its job, and within how long after its release that is over; and the longest path to the
   operation, from the release on. *)
Variables (job : operation -> nat) (release response : nat -> nat) (path : operation -> nat).
Definition by_when (j : nat) : nat := release j + response j.
Hypothesis Released : forall o, launched_in o -> upper o = true -> release (job o) <= launched_at o.
(* A job may meet all that may be left by these bounds once it is released, but for what is known not to be left. *)
Variable may_meet : nat -> operation -> bool.
Hypothesis Meets : forall j xs later s p, run = xs ++ later -> steps g (empty g) xs s -> is_left s p -> upper p = true ->
  release j <= now s -> release j <= by_when (job p) -> may_meet j p = true.
(* What an operation may wait for in queues is not met by its job, or of it and before it on a path. *)
Hypothesis Waits : forall o p, launched_in o -> launched_in p -> upper o = true -> may_meet (job o) p = true ->
  may_wait g o p = true -> job p = job o /\ path p + own o <= path o.
(* It is launched no later than a pause after the release, or after an operation of the job is over: one that is still
   left at some point of the run, no earlier than the pause before the launch. *)
Hypothesis Hosts : forall xs o later, run = xs ++ Launch o :: later -> upper o = true -> exists pause,
  (launched_at o <= release (job o) + pause /\ one * pause + own o <= path o) \/
  exists before since u p, xs = before ++ since /\ steps g (empty g) before u /\ is_left u p /\ upper p = true /\
    job p = job o /\ launched_at o <= now u + pause /\ path p + one * pause + own o <= path o.
(* The last block of an operation begins within [wait] of the release, if its path and the work of all that its job may
   meet and that is launched by then, all of its own included, fit that and the last block itself. *)
Variable wait : operation -> nat.
Definition met (o p : operation) : nat :=
  if may_meet (job o) p && ((launched_at p <=? release (job o) + wait o) || (number p =? number o))
  then of_upper g top (work_of weight) p else 0.
Hypothesis Fits : forall o, launched_in o -> upper o = true ->
  path o + sum (map (met o) (launches run)) <= one * (wait o + worst_of o) /\ wait o + worst_of o <= response (job o).

(* Of what is late, something was to be over first. *)
Lemma the_first (l : list operation) (late : operation -> bool) : existsb late l = true ->
  exists o, In o l /\ late o = true /\ forall p, In p l -> late p = true -> by_when (job o) <= by_when (job p).
Proof.
  induction l as [|o l IH]; intros E; [discriminate E|]. simpl in E. destruct (existsb late l) eqn:X.
  - destruct (IH eq_refl) as (p & I & L & M). destruct (late o) eqn:Lo;
      [destruct (Nat.le_gt_cases (by_when (job o)) (by_when (job p)))|].
    + exists o. split; [left; reflexivity|]. split; [exact Lo|]. intros q [<-|J] Lq; [lia|]. specialize (M q J Lq). lia.
    + exists p. split; [right; exact I|]. split; [exact L|]. intros q [<-|J] Lq; [lia|]. apply (M q J Lq).
    + exists p. split; [right; exact I|]. split; [exact L|]. intros q [<-|J] Lq; [congruence|]. apply (M q J Lq).
  - rewrite orb_false_r in E. exists o. split; [left; reflexivity|]. split; [exact E|]. intros q [<-|J] Lq; [lia|].
    exfalso. assert (Y : existsb late l = true) by (apply existsb_exists; exists q; tauto). congruence.
Qed.

(* At no point of the run a job is left later than its response allows. *)
Theorem programs_hold : forall xs later s, run = xs ++ later -> steps g (empty g) xs s ->
  forall o, is_left s o -> upper o = true -> now s <= by_when (job o).
Proof.
  set (in_time := fun s => forall o, is_left s o -> upper o = true -> now s <= by_when (job o)).
  enough (Z : forall n xs later s, length xs <= n -> run = xs ++ later -> steps g (empty g) xs s -> in_time s)
    by (intros xs later s; apply (Z _ xs later s (le_n _))).
  induction n as [n IHn] using (well_founded_induction lt_wf). intros xs later s Len G H.
  assert (Early : forall ys more u, length ys < length xs -> run = ys ++ more -> steps g (empty g) ys u -> in_time u).
  { intros ys more u L E Hu. apply (IHn (length ys) ltac:(lia) ys more u (le_n _) E Hu). }
  clear IHn n Len.
  assert (All : forall ys more o, run = ys ++ more -> In o (launches ys) -> launched_in o).
  { intros ys more o E I. unfold launched_in. rewrite E, launches_app, in_app_iff. left. exact I. }
  assert (K := sound_kept _ _ _ _ (sound_run g launched_in xs s H (fun o => All xs later o G))).
  set (left := flat_map waiting (queues s)).
  assert (Is : forall o, In o left <-> is_left s o).
  { intros o. unfold left. rewrite in_flat_map. split.
    - intros (k & I & J). apply In_nth_error in I. destruct I as [q E]. exists k. rewrite (kept_queue K q k o E J). tauto.
    - intros (k & E & I). exists k. split; [apply (nth_error_In _ _ E)|exact I]. }
  set (late := fun o => upper o && (by_when (job o) <? now s)).
  destruct (existsb late left) eqn:X.
  2: { intros o L Up. apply Nat.nlt_ge. intros Lt. assert (Y : existsb late left = true); [|congruence].
    apply existsb_exists. exists o. split; [apply Is, L|]. unfold late. rewrite Up. apply Nat.ltb_lt, Lt. }
  exfalso. destruct (the_first left late X) as (o & Io & Lo & First). apply Is in Io. unfold late in Lo.
  rewrite andb_true_iff, Nat.ltb_lt in Lo. destruct Lo as [Up Lt].
  assert (Lau : launched_in o) by (apply (All xs later o G), (left_is_launched g xs s o H Io)).
  set (j := job o) in *.
  (* Until then all other jobs are in time, or are to be over later. *)
  set (good := fun ys => exists rest, xs = ys ++ rest).
  assert (Mid : forall ys, good ys -> exists more, run = ys ++ more).
  { intros ys [rest E]. exists (rest ++ later). rewrite G, E, app_assoc. reflexivity. }
  set (mine := fun p => upper p && (job p =? j)).
  assert (Of_j : forall p, mine p = true -> upper p = true /\ job p = j).
  { intros p M. unfold mine in M. apply andb_true_iff in M. rewrite Nat.eqb_eq in M. exact M. }
  assert (Same : forall ys u p, good ys -> steps g (empty g) ys u -> is_left u p -> upper p = true ->
    release j <= now u -> may_meet j p = true).
  { intros ys u p Gy Hu Lp Upp Ru. destruct (Mid ys Gy) as [more E]. apply (Meets j ys more u p E Hu Lp Upp Ru).
    destruct Gy as [rest Ex]. destruct rest as [|x rest].
    - rewrite app_nil_r in Ex. subst ys. assert (Q := one_end g _ _ _ Hu _ H). subst u.
      destruct (late p) eqn:Late; [specialize (First p (proj2 (Is p) Lp) Late); unfold by_when in First at 1; lia|].
      unfold late in Late. rewrite Upp in Late. simpl in Late. apply Nat.ltb_ge in Late. lia.
    - assert (T := Early ys more u ltac:(rewrite Ex, app_length; simpl; lia) E Hu p Lp Upp). lia. }
  assert (Mo : mine o = true) by (unfold mine; rewrite Up, Nat.eqb_refl; reflexivity).
  destruct (Fits o Lau Up) as [Fit Short]. fold j in Short.
  assert (Some_block : each weight o <= work_of weight o).
  { assert (W := everywhere_left _ s o (proj2 (some_block g xs s H)) Io). unfold work_of, each, worst_of in *.
    destruct (what o) as [[|n] need la| | |]; [destruct (W need la eq_refl)|nia|lia|lia|lia]. }
  assert (Own : may_meet j o = true).
  { apply (Same xs s o); try assumption; [exists []; symmetry; apply app_nil_r|].
    assert (Z := Released o Lau Up). destruct (left_is_launched g xs s o H Io) as [_ Y]. fold j in Z. lia. }
  apply (over_after_last_block g top blocks launched_in C weight one Heavy Positive good) with (mine := mine)
    (r := release j) (counts := may_meet j) (path := path) (o := o) (F := release j + wait o) (xs := xs) (s := s);
    try assumption.
  - intros l k [rest E]. exists (k ++ rest). rewrite E, app_assoc. reflexivity.
  - intros ys p Gy I. destruct (Mid ys Gy) as [more E]. apply (All ys more p E I).
  - intros p M. apply (Of_j p M).
  - intros p M Lp. destruct (Of_j p M) as [Upp <-]. apply (Released p Lp Upp).
  - intros p q e l m M Lp Lq. apply (Copies p q e l m Lp Lq), (Of_j p M).
  - intros ys u Hu Gy Ru. destruct (Mid ys Gy) as [more E]. apply (what_is_left g).
    + apply (sound_kept _ _ _ _ (sound_run g launched_in ys u Hu (fun p => All ys more p E))).
    + intros p Lp Upp. apply (Same ys u p Gy Hu Lp Upp Ru).
  - intros p q M Lp Lq Cq W. destruct (Of_j p M) as [Upp Jp]. assert (W' := Waits p q Lp Lq Upp).
    rewrite Jp in W'. destruct (W' Cq W) as [Jq Le]. split; [|exact Le]. unfold mine.
    rewrite Jq, Nat.eqb_refl, andb_true_r. apply (waited_upper g top blocks launched_in C p q Lp Lq Upp W).
  - intros ys u p t Hu St Gy M. destruct (Of_j p M) as [Upp Jp]. destruct (Mid _ Gy) as [more E].
    rewrite <- app_assoc in E. destruct (Hosts ys p more E Upp) as (pause & D). exists pause. rewrite Jp in D.
    destruct D as [[A B]|(before & since & v & q & Ey & Hb & Lq & Uq & Jq & A & B)]; [left; tauto|right].
    subst ys. destruct (midway g since before (empty g) u Hu) as (v' & Hb' & Hs).
    assert (Q := one_end g _ _ _ Hb _ Hb'). subst v'. exists before, v, since, q. unfold mine.
    rewrite Uq, Jq, Nat.eqb_refl. tauto.
  - intros ys Gy By. destruct (Mid ys Gy) as [more E].
    assert (Le : work g top weight (may_meet j) (launches ys) <= sum (map (met o) (launches ys))).
    { unfold work. apply sum_le. intros p I. unfold met. fold j.
      rewrite (proj2 (Nat.leb_le _ _) (By p I)), andb_true_r. apply le_n. }
    assert (Rest : (if there o (launches ys) then 0 else each weight o) <= sum (map (met o) (launches more))).
    { destruct (there o (launches ys)) eqn:T; [apply Nat.le_0_l|]. unfold launched_in in Lau.
      rewrite E, launches_app, in_app_iff in Lau. destruct Lau as [I|I].
      - exfalso. assert (Z : there o (launches ys) = true); [|congruence]. apply existsb_exists. exists o.
        split; [exact I|apply Nat.eqb_refl].
      - eapply Nat.le_trans; [|apply (one_of_sum (met o) _ o I)]. unfold met. fold j.
        rewrite Own, Nat.eqb_refl, orb_true_r. unfold of_upper. rewrite Up. exact Some_block. }
    rewrite E, launches_app, map_app, sum_app in Fit. lia.
  - exists []. symmetry. apply app_nil_r.
  - unfold by_when in Lt. lia.
Qed.
End Programs.
