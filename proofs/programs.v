(* Jobs whose hosts sleep and wait, wherever their releases are: each job has a bound on its response, and of other jobs
   only what may be left by these bounds counts. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial busy choices shared heads paths.

(* A run that is given by its steps ends in one state. *)
Lemma one_end g a xs s : steps g a xs s -> forall t, steps g a xs t -> s = t.
Proof.
  induction 1 as [s|s t u x xs St H IH]; intros v Hv; inversion Hv; subst; [reflexivity|].
  match goal with E : step g s x ?w |- _ => rewrite <- (a_step_leads_to_one_state g s x t w St E) in * end.
  apply IH. assumption.
Qed.

Section Programs.
Variables (g : device) (top : nat) (blocks : nat -> nat) (P : operation -> Prop).
Hypothesis C : closed g top blocks P.
Local Notation upper := (upper g top).
Variables (weight : operation -> nat) (one : nat).
Hypothesis Heavy : heavy g top P weight one.
Hypothesis Positive : 0 < one.
Local Notation own := (own top blocks weight one).

(* Runs of some kind. *)
Variable good : list label -> Prop.
Hypothesis Prefix : forall l k, good (l ++ k) -> good l.
Hypothesis All : forall xs o, good xs -> In o (launches xs) -> P o.
(* Of each operation: its job, and within how long after its release that is over; and the longest path to the
   operation, from the release on. *)
Variables (job : operation -> nat) (release response : nat -> nat) (path : operation -> nat).
Definition by_when (j : nat) : nat := release j + response j.
Hypothesis Released : forall o, upper o = true -> release (job o) <= launched_at o.
Hypothesis Copies : forall o p e l m, upper o = true -> P p -> what o = Copy e l -> what p = Copy e m -> one <= weight p.
(* A job that may be left when job [j] is released, or is released later. *)
Definition may_meet (j : nat) (o : operation) : bool := release j <=? by_when (job o).
(* What an operation waits for is over when its job is released, or of the job and before it on a path. *)
Hypothesis Waits : forall o p, upper o = true -> P p -> may_meet (job o) p = true -> may_wait g o p = true ->
  job p = job o /\ path p + own o <= path o.
Hypothesis Hosts : forall xs s o t, steps g (empty g) xs s -> step g s (Launch o) t -> good (xs ++ [Launch o]) ->
  upper o = true -> exists pause,
  (launched_at o <= release (job o) + pause /\ one * pause + own o <= path o) \/
  exists before u since p, xs = before ++ since /\ steps g (empty g) before u /\ steps g u since s /\ is_left u p /\
    upper p = true /\ job p = job o /\ launched_at o <= now u + pause /\ path p + one * pause + own o <= path o.
(* The longest path of a job, and the work of all that it may meet, fit its response. *)
Variable longest : nat -> nat.
Hypothesis Longest : forall o, upper o = true -> path o <= longest (job o).
Hypothesis Fits : forall xs o, good xs -> upper o = true -> P o ->
  (forall p, In p (launches xs) -> launched_at p <= by_when (job o)) ->
  one * release (job o) + longest (job o) + work g top weight (may_meet (job o)) (launches xs) <= one * by_when (job o).

Definition all_in_time (s : state) : Prop := forall o, upper o = true -> is_left s o -> now s <= by_when (job o).

(* Of what is left, something is to be over first. *)
Lemma the_first (l : list operation) (late : operation -> bool) : existsb late l = true ->
  exists o, In o l /\ late o = true /\ forall p, In p l -> late p = true -> by_when (job o) <= by_when (job p).
Proof.
  induction l as [|o l IH]; intros E; [discriminate E|]. simpl in E.
  destruct (existsb late l) eqn:X.
  - destruct (IH eq_refl) as (p & I & L & M). destruct (late o) eqn:Lo.
    + destruct (Nat.le_gt_cases (by_when (job o)) (by_when (job p))) as [Le|Gt].
      * exists o. split; [left; reflexivity|]. split; [exact Lo|]. intros q [<-|J] Lq; [lia|]. specialize (M q J Lq). lia.
      * exists p. split; [right; exact I|]. split; [exact L|]. intros q [<-|J] Lq; [lia|]. apply (M q J Lq).
    + exists p. split; [right; exact I|]. split; [exact L|]. intros q [<-|J] Lq; [congruence|]. apply (M q J Lq).
  - rewrite orb_false_r in E. exists o. split; [left; reflexivity|]. split; [exact E|]. intros q [<-|J] Lq; [lia|].
    exfalso. assert (Y : existsb late l = true) by (apply existsb_exists; exists q; tauto). congruence.
Qed.

(* No job is left later than its response allows. *)
Theorem programs_hold : forall xs s, steps g (empty g) xs s -> good xs -> all_in_time s.
Proof.
  enough (Z : forall n xs s, length xs <= n -> steps g (empty g) xs s -> good xs -> all_in_time s)
    by (intros xs s; apply (Z _ xs s (le_n _))).
  induction n as [n IHn] using (well_founded_induction lt_wf). intros xs s Len H G.
  assert (Early : forall ys u, length ys < length xs -> steps g (empty g) ys u -> good ys -> all_in_time u).
  { intros ys u L Hu Gu. apply (IHn (length ys) ltac:(lia) ys u (le_n _) Hu Gu). }
  clear IHn n Len.
  set (left := flat_map waiting (queues s)).
  assert (Is : forall o, In o left <-> is_left s o).
  { assert (K := sound_kept _ _ _ _ (sound_run g P xs s H (fun o => All xs o G))). intros o. unfold left.
    rewrite in_flat_map. split.
    - intros (k & I & J). apply In_nth_error in I. destruct I as [q E]. exists k. rewrite (kept_queue K q k o E J). tauto.
    - intros (k & E & I). exists k. split; [apply (nth_error_In _ _ E)|exact I]. }
  set (late := fun o => upper o && (by_when (job o) <? now s)).
  destruct (existsb late left) eqn:X.
  2: { intros o Up L. apply Nat.nlt_ge. intros Lt. assert (Y : existsb late left = true); [|congruence].
    apply existsb_exists. exists o. split; [apply Is, L|]. unfold late. rewrite Up. apply Nat.ltb_lt, Lt. }
  exfalso. destruct (the_first left late X) as (o & Io & Lo & First). apply Is in Io. unfold late in Lo.
  rewrite andb_true_iff, Nat.ltb_lt in Lo. destruct Lo as [Up Lt].
  set (j := job o) in *.
  (* Until then all other jobs are in time, or are to be over later. *)
  set (good' := fun ys => good ys /\ forall zs u rest, ys = zs ++ rest -> steps g (empty g) zs u -> release j <= now u ->
    everywhere (fun p => upper p = true -> may_meet j p = true) u).
  assert (G' : good' xs).
  { split; [exact G|]. intros zs u rest E Hu Ru. subst xs. assert (Gu := Prefix _ _ G).
    apply (what_is_left g); [apply (sound_kept _ _ _ _ (sound_run g P zs u Hu (fun p => All zs p Gu)))|].
    intros p Lp Upp. unfold may_meet. apply Nat.leb_le. destruct rest as [|x rest].
    - rewrite app_nil_r in H. assert (Same := one_end g _ _ _ Hu _ H). subst u.
      destruct (late p) eqn:Late; [specialize (First p (proj2 (Is p) Lp) Late); unfold by_when in First at 1; lia|].
      unfold late in Late. rewrite Upp in Late. simpl in Late. apply Nat.ltb_ge in Late. lia.
    - assert (T := Early zs u ltac:(rewrite app_length; simpl; lia) Hu Gu p Upp Lp). lia. }
  set (mine := fun p => upper p && (job p =? j)).
  assert (Of_j : forall p, mine p = true -> upper p = true /\ job p = j).
  { intros p M. unfold mine in M. apply andb_true_iff in M. rewrite Nat.eqb_eq in M. exact M. }
  assert (Po := everywhere_left _ s o (sound_all _ _ _ _ (sound_run g P xs s H (fun p => All xs p G))) Io).
  assert (Over : everywhere (fun p => mine p = true -> longest j < path p) s).
  { apply (over_by_paths g top blocks P C weight one Heavy good') with (r := release j) (counts := may_meet j)
      (F := by_when j) (xs := xs); try assumption.
    - intros l k [A B]. split; [apply (Prefix _ _ A)|]. intros zs u rest E. apply (B zs u (rest ++ k)).
      rewrite E, app_assoc. reflexivity.
    - intros ys p [A _]. apply All, A.
    - intros p M. apply (Of_j p M).
    - intros p M. destruct (Of_j p M) as [Upp <-]. apply Released, Upp.
    - intros p q e l m M. apply Copies, (Of_j p M).
    - intros ys u Hu [_ B] Ru. apply (B ys u [] (eq_sym (app_nil_r ys)) Hu Ru).
    - intros p q M Pp Pq Cq W. destruct (Of_j p M) as [Upp Jp]. assert (W' := Waits p q Upp Pq).
      rewrite Jp in W'. destruct (W' Cq W) as [Jq Le]. split; [|exact Le]. unfold mine. rewrite Jq, Nat.eqb_refl, andb_true_r.
      apply (waited_upper g top blocks P C p q Pp Pq Upp W).
    - intros ys u p t Hu St [Gy _] M. destruct (Of_j p M) as [Upp Jp].
      destruct (Hosts ys u p t Hu St Gy Upp) as (pause & [[A B]|(before & v & since & q & E & Hb & Hs & Lq & Uq & Jq & A & B)]);
        exists pause; rewrite Jp in *; [left; tauto|right]. exists before, v, since, q. unfold mine.
      rewrite Uq, Jq, Nat.eqb_refl. tauto.
    - intros ys [Gy _] By. apply (Fits ys o Gy Up Po By). }
  assert (M : mine o = true) by (unfold mine; rewrite Up, Nat.eqb_refl; reflexivity).
  assert (Q := everywhere_left _ s o Over Io M). assert (Y := Longest o Up). fold j in Y. lia.
Qed.
End Programs.
