(* Bounds on hosts that wait for operations of others: from the release of a job on, what its hosts wait for covers all
   time, so it is over when pauses and all that it can wait for, also through others, fit with the work that comes. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial busy closed choices waits shared carried heads
  paths others ends programs hosts segments.

Section Host_waits.
Variables (g : device) (program : nat -> list call) (who : nat -> nat * nat).
Local Notation exec := (exec g program who).
Local Notation edge := (edge g program who).
Local Notation does := (does program).
Local Notation holds := (holds g program who).
Local Notation awaited := (awaited program who).
Local Notation by_host := (by_host who).
Local Notation by_call := (by_call who).
Local Notation exec_told := (exec_told g program who).
Local Notation exec_steps := (exec_steps g program who).
Local Notation clock_grows := (clock_grows g).
Local Notation now_is_clock := (now_is_clock g).
Variables (counted : nat -> nat -> bool) (job : nat -> nat -> nat) (release response : nat -> nat).
Local Notation by_when := (by_when release response).
Local Notation comes := (comes g program who job release).
Local Notation first := (first job).
Local Notation job_of o := (job (by_host o) (by_call o)).
Variables (top : nat) (blocks : nat -> nat) (weight : operation -> nat) (one : nat).
Local Notation upper := (upper g top).
Local Notation own := (own top blocks weight one).
Hypothesis Positive : 0 < one.
(* The most of pauses along a path to the end of each call, and what segments.v asks. *)
Variable rest : nat -> nat -> nat.
Hypothesis Own : forall h i, counted h i = true -> pauses program 1 h i <= rest h i.
Hypothesis Path : forall k j h i, edge (Does k j) (Does h i) -> counted h i = true -> job k j = job h i ->
  rest k j + pauses program 1 h i <= rest h i.
Hypothesis Timers : forall h i r, counted h i = true -> does h i (Timer r) -> 1 * (r - release (job h i)) <= rest h i.
Variable rank : nat -> nat -> nat.
Hypothesis Acyclic : forall k j h i, edge (Does k j) (Does h i) -> counted h i = true -> rank k j < rank h i.
Hypothesis Closed : forall k j h i, edge (Does k j) (Does h i) -> counted h i = true ->
  counted k j = true \/ (k = h /\ i = S j) /\ comes h i.
Hypothesis Starts : forall h i c, counted h i = true -> does h i c -> first h i ->
  (exists r, c = Timer r /\ release (job h i) <= r) \/ comes h i.
Hypothesis Apart : forall k j h i, edge (Does k j) (Does h i) -> counted h i = true -> job k j <> job h i ->
  by_when (job k j) <= release (job h i) \/ (k = h /\ i = S j) /\ comes h i.
(* A job may meet all that may be left once it is released, if no other job is late, but for what is known not to be
   left. *)
Variable may_meet : nat -> operation -> bool.
Hypothesis Meets : forall xs st j ys more s p, exec xs st -> xs = ys ++ more -> steps g (empty g) ys s -> is_left s p ->
  upper p = true -> release j <= now s -> release j <= by_when (job_of p) -> may_meet j p = true.
(* Of each job what it can wait for, its own operations and what these wait for in queues included; but for what is
   over when it is released. *)
Variable related : nat -> operation -> bool.
Hypothesis Related_upper : forall j o, related j o = true -> upper o = true.
Hypothesis Related_own : forall o, upper o = true -> related (job_of o) o = true.
Hypothesis Related_queues : forall j o p, related j o = true -> may_meet j p = true ->
  edge (Ends (by_host p) (by_call p)) (Ends (by_host o) (by_call o)) -> related j p = true.
Hypothesis Related_waits : forall p h i, edge (Ends (by_host p) (by_call p)) (Does h i) -> counted h i = true ->
  counted (by_host p) (by_call p) = true /\
  (related (job h i) p = true \/ by_when (job_of p) <= release (job h i) \/ may_meet (job h i) p = false).
Definition asked (xs : list label) : Prop :=
  closed g top blocks (launched_in xs) /\ heavy g top (launched_in xs) weight one /\
  (forall o p e l m, launched_in xs o -> launched_in xs p -> upper o = true -> what o = Copy e l -> what p = Copy e m ->
    one <= weight p) /\
  (forall o, launched_in xs o -> upper o = counted (by_host o) (by_call o)).
Hypothesis Asked : forall xs st, exec xs st -> asked xs.
(* Pauses, the work that may be left at the release, or is launched within the response, and what the related
   operations of it take themselves, fit the response. *)
Definition load (j : nat) (p : operation) : nat :=
  if may_meet j p && (launched_at p <=? by_when j)
  then of_upper g top (work_of weight) p + (if related j p then own p else 0) else 0.
Hypothesis Fits : forall xs st h i c, exec xs st -> counted h i = true -> does h i c ->
  one * rest h i + sum (map (load (job h i)) (launches xs)) <= one * response (job h i).

Local Notation covers j := (covered g (release j) (related j)).
Definition covered_to (xs : list label) (j B : nat) : Prop := release j <= clock xs -> exists s, covers j B xs s.
Definition launched_covered (xs : list label) : Prop := forall ys o later,
  xs = ys ++ Launch o :: later -> upper o = true ->
  launched_at o = clock ys /\ counted (by_host o) (by_call o) = true /\
  (exists c, does (by_host o) (by_call o) c) /\ covered_to ys (job_of o) (rest (by_host o) (by_call o)).
Definition in_time (xs : list label) : Prop := forall ys more s o, xs = ys ++ more -> steps g (empty g) ys s ->
  is_left s o -> upper o = true -> now s <= by_when (job_of o).
Lemma covered_run j d xs s : covers j d xs s -> steps g (empty g) xs s.
Proof.
  induction 1 as [d xs s H _ _|d xs ys u s p _ IH H _ _ _|d e xs ys u s _ IH H _]; [exact H|..];
    apply (proj1 (many_steps g u ys s H xs IH)).
Qed.
Lemma covered_more j d xs s : covers j d xs s -> forall e, d <= e -> covers j e xs s.
Proof.
  induction 1 as [d xs s H L Le|d xs ys u s p _ IH H R I Lp|d a xs ys u s _ IH H Le]; intros e De.
  - apply From_release; [exact H|exact L|lia].
  - apply (While_left _ _ _ e xs ys u s p (IH e De) H R I Lp).
  - replace e with ((e - a) + a) by lia. apply (After_pause _ _ _ (e - a) a xs ys u s (IH (e - a) ltac:(lia)) H Le).
Qed.

(* What is covered is in time, if all others were. *)
Lemma covered_in_time xs st j D ys more s d : exec xs st -> xs = ys ++ more ->
  (forall zs end_ u p, ys = zs ++ end_ -> steps g (empty g) zs u -> release j <= now u -> is_left u p -> upper p = true
    ->
    may_meet j p = true) ->
  covers j d ys s -> d <= D -> one * D + sum (map (load j) (launches xs)) <= one * response j -> now s <= by_when j.
Proof.
  intros E Ex Counts Cov Le Fit. destruct (Asked _ _ E) as (C & He & Co & _).
  set (good := fun zs => exists end_, ys = zs ++ end_).
  assert (All : forall zs o, good zs -> In o (launches zs) -> launched_in xs o).
  { intros zs o [en Q] I. unfold launched_in. rewrite Ex, Q, !launches_app, !in_app_iff. tauto. }
  apply (covered_by g top blocks (launched_in xs) C weight one He good) with (r := release j) (counts := may_meet j)
    (related := related j) (D := D) (d := d) (xs := ys); try assumption.
  - intros l k [en Q]. exists (k ++ en). rewrite Q, app_assoc. reflexivity.
  - intros zs u Hu [en Q] Ru. apply (what_is_left g).
    + apply (sound_kept _ _ _ _ (sound_run g (launched_in xs) zs u Hu (fun p => All zs p (ex_intro _ en Q)))).
    + intros p Lp Up. apply (Counts zs en u p Q Hu Ru Lp Up).
  - apply Related_upper.
  - intros o p e l m R Lo Lp. apply (Co o p e l m Lo Lp (Related_upper j o R)).
  - intros o p R Lo Lp M W. apply (Related_queues j o p R M), (queued_edge g program who xs st o p E Lo Lp W).
  - intros zs [en Q] By. unfold programs.by_when. rewrite !Nat.mul_add_distr_l.
    enough (total g top blocks weight one (may_meet j) (related j) (launches zs) <= sum (map (load j) (launches xs)))
      by lia.
    rewrite Ex, Q, !launches_app, !map_app, !sum_app.
    enough (total g top blocks weight one (may_meet j) (related j) (launches zs) <= sum (map (load j) (launches zs)))
      by lia.
    unfold total, work, of_related. rewrite <- sum_plus. apply sum_le. intros p I. unfold load. assert (Y := By p I).
    unfold programs.by_when. rewrite (proj2 (Nat.leb_le (launched_at p) (release j + response j)) Y), andb_true_r.
    destruct (may_meet j p); lia.
  - exists []. symmetry. apply app_nil_r.
Qed.
Lemma launch_of o : forall xs, In o (launches xs) -> exists before later, xs = before ++ Launch o :: later.
Proof.
  intros xs I. unfold launches in I. apply in_flat_map in I. destruct I as (x & I & L). destruct x; simpl in L;
    try tauto.
  destruct L as [<-|[]]. apply in_split in I. exact I.
Qed.
Lemma operations_in_time xs st : exec xs st -> launched_covered xs -> in_time xs.
Proof.
  intros E L. enough (Z : forall n ys more s, length ys < n -> xs = ys ++ more -> steps g (empty g) ys s ->
    forall o, is_left s o -> upper o = true -> now s <= by_when (job_of o)).
  { intros ys more s o Ex H Lo U. apply (Z _ ys more s (le_n _) Ex H o Lo U). }
  induction n as [|n IH]; intros ys more s Len Ex H; [lia|].
  assert (K := sound_kept _ _ _ _ (sound_run g (fun _ => True) ys s H (fun _ _ => Logic.I))).
  set (left := flat_map waiting (queues s)).
  assert (Is : forall o, In o left <-> is_left s o).
  { intros o. unfold left. rewrite in_flat_map. split.
    - intros (k & I & J). apply In_nth_error in I. destruct I as [q F]. exists k. rewrite (kept_queue K q k o F J).
      tauto.
    - intros (k & F & I). exists k. split; [apply (nth_error_In _ _ F)|exact I]. }
  set (late := fun o => upper o && (by_when (job_of o) <? now s)).
  destruct (existsb late left) eqn:X.
  2: { intros o Lo U. apply Nat.nlt_ge. intros Lt. assert (Y : existsb late left = true); [|congruence].
    apply existsb_exists. exists o. split; [apply Is, Lo|]. unfold late. rewrite U. apply Nat.ltb_lt, Lt. }
  exfalso. destruct (the_first one Positive (fun o => job_of o) release response left late X) as (o & Io & Late &
    First).
  apply Is in Io. unfold late in Late. rewrite andb_true_iff, Nat.ltb_lt in Late. destruct Late as [U Lt].
  destruct (left_is_launched g ys s o H Io) as [Il At]. destruct (launch_of o ys Il) as (before & after & Ey).
  destruct (L before o (after ++ more)) as (Al & Ko & (c & Do) & Cov); [rewrite Ex, Ey, <- app_assoc;
    reflexivity|exact U|].
  assert (Ix : In o (launches xs)) by (rewrite Ex, launches_app, in_app_iff; tauto).
  assert (Rel := segments.released g program who counted job release Closed Starts xs st E o Ix Ko).
  destruct (Cov ltac:(lia)) as [u Cu]. change (Launch o :: after) with ([Launch o] ++ after) in Ey.
  rewrite app_assoc in Ey.
  rewrite Ey in H. destruct (midway g after _ _ _ H) as (v & Hv & Hs).
  destruct (last_step g _ _ _ _ Hv) as (u' & Hu & St).
  assert (Q := one_end g _ _ _ Hu _ (covered_run _ _ _ _ Cu)). subst u'.
  destruct (launched_now g u _ v o St (or_introl eq_refl)) as (_ & _ & Nv).
  assert (Cv := After_pause _ _ _ _ 0 before [Launch o] u v Cu (Go g _ _ _ _ _ St (Stop g v)) ltac:(lia)).
  rewrite Nat.add_0_r in Cv.
  assert (Cs := While_left _ _ _ _ (before ++ [Launch o]) after v s o Cv Hs (Related_own o U)
    ltac:(rewrite launches_app, in_app_iff; simpl; tauto) Io).
  rewrite <- Ey in *. apply Nat.lt_irrefl with (x := now s). eapply Nat.le_lt_trans; [|exact Lt].
  apply (covered_in_time xs st _ (rest (by_host o) (by_call o)) ys more s _ E Ex) with (2 := Cs);
    [|apply le_n|apply (Fits xs st _ _ c E Ko Do)].
  intros zs en w p Ez Hw Rw Lp Up. apply (Meets xs st _ zs (en ++ more) w p E); try assumption.
  { rewrite Ex, Ez, app_assoc. reflexivity. }
  destruct en as [|x en].
  - rewrite app_nil_r in Ez. subst zs. assert (Q := one_end g _ _ _ Hw _ H). subst w.
    destruct (late p) eqn:Lt'; [specialize (First p (proj2 (Is p) Lp) Lt'); unfold programs.by_when in First at 1;
      lia|].
    unfold late in Lt'. rewrite Up in Lt'. simpl in Lt'. apply Nat.ltb_ge in Lt'. lia.
  - assert (Z := IH zs ((x :: en) ++ more) w ltac:(rewrite Ez, app_length in Len; simpl in Len; lia)
      ltac:(rewrite Ex, Ez, app_assoc; reflexivity) Hw p Lp Up). lia.
Qed.
Lemma host_in_time xs st h i c : exec xs st -> launched_covered xs -> counted h i = true -> does h i c ->
  covered_to xs (job h i) (rest h i) -> clock xs <= by_when (job h i).
Proof.
  intros E L K D T. destruct (Nat.le_gt_cases (release (job h i)) (clock xs)) as [R|R].
  2: { unfold programs.by_when. lia. }
  destruct (T R) as [s Cs]. rewrite <- (now_is_clock xs s (covered_run _ _ _ _ Cs)).
  apply (covered_in_time xs st _ (rest h i) xs [] s _ E (eq_sym (app_nil_r _))) with (2 := Cs);
    [|apply le_n|apply (Fits xs st h i c E K D)].
  intros zs en u p Ez Hu Ru Lp Up. apply (Meets xs st _ zs en u p E Ez Hu Lp Up Ru).
  assert (Z := operations_in_time xs st E L zs en u p Ez Hu Lp Up). lia.
Qed.

(* What segments.v asks of what is covered. *)
Lemma covered_later xs ys j B d : covered_to xs j B -> is_run g (xs ++ ys) -> clock (xs ++ ys) <= clock xs + d ->
  covered_to (xs ++ ys) j (B + 1 * d).
Proof.
  intros T [s H] Le R. rewrite Nat.mul_1_l. exists s. assert (Ns := now_is_clock _ s H).
  destruct (Nat.le_gt_cases (release j) (clock xs)) as [Q|Q].
  - destruct (T Q) as [u Cu]. destruct (midway g ys xs _ s H) as (v & Hv & Hs).
    assert (X := one_end g _ _ _ Hv _ (covered_run _ _ _ _ Cu)). subst v. apply (After_pause _ _ _ B d xs ys u s Cu Hs).
    rewrite Ns, (now_is_clock xs u Hv). exact Le.
  - apply From_release; [exact H|lia..].
Qed.
Lemma covered_at_release xs j d B : is_run g xs -> clock xs <= release j + d -> 1 * d <= B -> covered_to xs j B.
Proof. intros [s H] Le D R. exists s. assert (N := now_is_clock xs s H). apply From_release; [exact H|lia..]. Qed.
Lemma awaited_covered xs st h w p B : exec xs st -> launched_covered xs -> counted h (done st h) = true ->
  does h (done st h) (Await w) -> awaited w h (since st h) p -> left_at g xs p ->
  covered_to (since st h) (job h (done st h)) B -> B <= rest h (done st h) ->
  covered_to xs (job h (done st h)) (rest h (done st h)).
Proof.
  intros E L K D A (u & Hu & Lu) T Le R. assert (Ed := awaited_edge g program who xs st h w p E D A).
  assert (Nu := now_is_clock xs u Hu). destruct (Related_waits p h _ Ed K) as [Kp W].
  destruct (left_is_launched g _ u p Hu Lu) as [Ip _].
  assert (Up := proj2 (proj2 (proj2 (Asked _ _ E))) p Ip). rewrite Kp in Up.
  assert (Z := operations_in_time xs st E L xs [] u p (eq_sym (app_nil_r _)) Hu Lu Up).
  destruct W as [W|[W|W]].
  - assert (Rs : release (job h (done st h)) <= clock (since st h)).
    { destruct (began g program who counted job release Closed Starts xs st E h _ K D) as [F|F]; [|exact F].
      destruct (Starts h _ _ K D F) as [(r & X & _)|Co]; [discriminate X|]. rewrite (Co xs st E eq_refl). apply le_n. }
    destruct (T Rs) as [v Cv]. destruct (told_since _ _ _ _ (exec_told xs st E) h) as [ys Ex]. exists u.
    rewrite Ex in Hu |- *. destruct (midway g ys _ _ u Hu) as (v' & Hv & Hs).
    assert (X := one_end g _ _ _ Hv _ (covered_run _ _ _ _ Cv)). subst v'.
    apply (While_left _ _ _ _ _ ys v u p (covered_more _ _ _ _ Cv _ Le) Hs W (proj1 A) Lu).
  - exists u. apply From_release; [exact Hu|lia..].
  - assert (M := Meets xs st (job h (done st h)) xs [] u p E (eq_sym (app_nil_r _)) Hu Lu Up ltac:(lia)).
    exists u. apply From_release; [exact Hu|lia|]. apply Nat.le_trans with (release (job h (done st h))); [|lia].
    apply Nat.nlt_ge. intros Lt. rewrite M in W; [discriminate W|lia].
Qed.
Lemma goes_covered xs st x : exec (xs ++ [x]) st -> launched_covered xs -> (forall o, x <> Launch o) ->
  launched_covered (xs ++ [x]).
Proof.
  intros _ L N ys o later Ex. destruct later as [|y later _] using rev_ind.
  - apply app_inj_tail in Ex. destruct Ex as [_ Ex]. destruct (N o Ex).
  - rewrite app_comm_cons, app_assoc in Ex. apply app_inj_tail in Ex. destruct Ex as [Ex _]. apply (L ys o later Ex).
Qed.
Lemma launches_covered xs st h o e : exec xs st -> launched_covered xs -> does h (done st h) (Submit (stream o) (what
  o) e) ->
  who (number o) = (h, done st h) -> exec (xs ++ [Launch o]) (goes h (xs ++ [Launch o]) st) ->
  (counted h (done st h) = true -> covered_to xs (job h (done st h)) (rest h (done st h))) ->
  launched_covered (xs ++ [Launch o]).
Proof.
  intros E L Dh W E' T ys p later Ex Up. destruct later as [|y later _] using rev_ind.
  - apply app_inj_tail in Ex. destruct Ex as [<- Ex]. injection Ex as <-. destruct (exec_steps _ _ E') as [s H].
    destruct (last_step g _ _ _ _ H) as (u & Hu & St).
    destruct (launched_now g u _ s o St (or_introl eq_refl)) as (_ & At & _).
    split; [rewrite At; apply (now_is_clock xs u Hu)|].
    assert (Io : launched_in (xs ++ [Launch o]) o) by (unfold launched_in; rewrite launches_app, in_app_iff; simpl;
      tauto).
    assert (U := proj2 (proj2 (proj2 (Asked _ _ E'))) o Io). rewrite Up in U. symmetry in U.
    unfold by_host, by_call in *. rewrite W in *. simpl in *. split; [exact U|]. split; [eexists; exact Dh|apply (T U)].
  - rewrite app_comm_cons, app_assoc in Ex. apply app_inj_tail in Ex. destruct Ex as [Ex _]. apply (L ys p later Ex Up).
Qed.

(* So no job is late at any point of any run. *)
Theorem waiting_hosts_hold : forall xs st, exec xs st ->
  (forall s o, steps g (empty g) xs s -> is_left s o -> upper o = true -> now s <= by_when (job_of o)) /\
  (forall h c, counted h (done st h) = true -> does h (done st h) c -> clock xs <= by_when (job h (done st h))).
Proof.
  intros xs st E. assert (Z : launched_covered xs /\ on_path program counted job 1 rest covered_to xs st).
  { apply (runs_on_path g program who counted job release by_when 1 rest) with (rank := rank); try assumption.
    - intros ys j A B T Le R. destruct (T R) as [s Cs]. exists s. apply (covered_more _ _ _ _ Cs _ Le).
    - intros ys zs j B d. apply covered_later.
    - intros ys j d B. apply covered_at_release.
    - intros ys st' h c E' L K D [T _]. apply (host_in_time ys st' h _ c E' L K D T).
    - intros ys st' h w p B. apply awaited_covered.
    - intros ys o later Ex. destruct (app_cons_not_nil _ _ _ Ex).
    - intros ys st' x. apply goes_covered.
    - intros ys st' h o e. apply launches_covered. }
  destruct Z as [L P]. split.
  - intros s o H Lo U. apply (operations_in_time xs st E L xs [] s o (eq_sym (app_nil_r _)) H Lo U).
  - intros h c K D. apply (host_in_time xs st h _ c E L K D), (P h c K D).
Qed.
End Host_waits.
