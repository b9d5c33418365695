(* Bounds along paths: of hosts that wait for segments of their own job, and for what is over when it is released. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial busy closed choices waits shared heads paths
  others ends programs hosts segments.

Section Host_paths.
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
Definition job_of (o : operation) : nat := job (by_host o) (by_call o).
Variables (top : nat) (blocks : nat -> nat) (weight : operation -> nat) (one : nat).
Local Notation upper := (upper g top).
Local Notation own := (own top blocks weight one).
Hypothesis Positive : 0 < one.
(* The longest paths, from the releases of the jobs on. An operation adds a cost, a pause its time. *)
Variables (path : node -> nat) (cost : nat -> nat -> nat).
Definition at_node {A} (f : nat -> nat -> A) (a : node) : A := match a with Does h i | Ends h i => f h i end.
Definition takes (a : node) : nat := match a with Ends h i => cost h i | Does h i => pauses program one h i end.
Hypothesis Own : forall a, at_node counted a = true -> takes a <= path a.
Hypothesis Path : forall a b, edge a b -> at_node counted b = true -> at_node job a = at_node job b ->
  path a + takes b <= path b.
(* The rest is what segments.v asks, *)
Hypothesis Timers : forall h i r, counted h i = true -> does h i (Timer r) -> one * (r - release (job h i)) <= path
  (Does h i).
Variable rank : nat -> nat -> nat.
Hypothesis Acyclic : forall k j h i, edge (Does k j) (Does h i) -> counted h i = true -> rank k j < rank h i.
Hypothesis Closed : forall k j h i, edge (Does k j) (Does h i) -> counted h i = true ->
  counted k j = true \/ (k = h /\ i = S j) /\ comes h i.
Hypothesis Starts : forall h i c, counted h i = true -> does h i c -> first h i ->
  (exists r, c = Timer r /\ release (job h i) <= r) \/ comes h i.
Hypothesis Apart : forall k j h i, edge (Does k j) (Does h i) -> counted h i = true -> job k j <> job h i ->
  by_when (job k j) <= release (job h i) \/ (k = h /\ i = S j) /\ comes h i.
(* and of operations that they are of such calls too. *)
Hypothesis Closed_waits : forall k j h i, edge (Ends k j) (Does h i) -> counted h i = true -> counted k j = true.
(* A job may meet all that may be left once it is released, if no other job is late, but for what is known not to be
   left. *)
Variable may_meet : nat -> operation -> bool.
Hypothesis Meets : forall xs st j ys more s p, exec xs st -> xs = ys ++ more -> steps g (empty g) ys s -> is_left s p ->
  upper p = true -> release j <= now s -> release j <= by_when (job_of p) -> may_meet j p = true.
Hypothesis Waits_apart : forall p h i, edge (Ends (by_host p) (by_call p)) (Does h i) -> counted h i = true ->
  job_of p <> job h i -> by_when (job_of p) <= release (job h i) \/ may_meet (job h i) p = false.
Hypothesis Queues_apart : forall p o, edge (Ends (by_host p) (by_call p)) (Ends (by_host o) (by_call o)) ->
  counted (by_host o) (by_call o) = true -> job_of p <> job_of o -> may_meet (job_of o) p = false.
(* Operations of these hosts are those of the priorities above [top], and what is asked of all that is launched. *)
Definition asked (xs : list label) : Prop :=
  closed g top blocks (launched_in xs) /\ heavy g top (launched_in xs) weight one /\
  (forall o p e l m, launched_in xs o -> launched_in xs p -> upper o = true -> what o = Copy e l -> what p = Copy e m ->
    one <= weight p) /\
  (forall o, launched_in xs o -> upper o = counted (by_host o) (by_call o) /\ own o <= cost (by_host o) (by_call o)).
Hypothesis Asked : forall xs st, exec xs st -> asked xs.
(* Paths and the work that may be left at the release, or is launched until then, fit the responses. *)
Definition path_of (o : operation) : nat := path (Ends (by_host o) (by_call o)).
Variable wait_of : operation -> nat.
Hypothesis Fits : forall xs st o, exec xs st -> In o (launches xs) -> upper o = true ->
  path_of o + sum (map (met g top weight job_of release may_meet wait_of o) (launches xs)) <= one * (wait_of o +
    worst_of o) /\
  wait_of o + worst_of o <= response (job_of o).
Definition met_by (j until : nat) (p : operation) : nat :=
  if may_meet j p && (launched_at p <=? until) then of_upper g top (work_of weight) p else 0.
(* Of calls, what is launched until their pauses begin. *)
Variable until_of : nat -> nat -> nat.
Hypothesis Fits_hosts : forall xs st h i c, exec xs st -> counted h i = true -> does h i c ->
  path (Does h i) - pauses program one h i +
    sum (map (met_by (job h i) (release (job h i) + until_of h i)) (launches xs)) <= one * until_of h i /\
  until_of h i + pause program h i <= response (job h i).

(* A time that is no later than a length after the release of a job, or than the rest of it after an operation of the
   job is over. *)
Definition timely (xs : list label) (j B : nat) : Prop := exists d,
  (clock xs <= release j + d /\ one * d <= B) \/
  exists before ys u p, xs = before ++ ys /\ steps g (empty g) before u /\ is_left u p /\ upper p = true /\ job_of p =
    j /\
    clock xs <= now u + d /\ path_of p + one * d <= B.
Definition in_time (xs : list label) : Prop := forall ys more s o, xs = ys ++ more -> steps g (empty g) ys s ->
  is_left s o -> upper o = true -> now s <= by_when (job_of o).
Definition launched_timely (xs : list label) : Prop := forall ys o later,
  xs = ys ++ Launch o :: later -> upper o = true ->
  launched_at o = clock ys /\ exists B, timely ys (job_of o) B /\ B + own o <= path_of o.

Lemma released xs st o : exec xs st -> In o (launches xs) -> upper o = true -> release (job_of o) <= launched_at o.
Proof.
  intros E I U. apply (segments.released g program who counted job release Closed Starts xs st E o I).
  rewrite <- (proj1 (proj2 (proj2 (proj2 (Asked _ _ E))) o I)). exact U.
Qed.

(* Operations are in time where they were launched in time. *)
Lemma launched_so xs : launched_timely xs -> forall ys o later, xs = ys ++ Launch o :: later -> upper o = true ->
  exists pause, (launched_at o <= release (job_of o) + pause /\ one * pause + own o <= path_of o) \/
  exists before since u p, ys = before ++ since /\ steps g (empty g) before u /\ is_left u p /\ upper p = true /\
    job_of p = job_of o /\ launched_at o <= now u + pause /\ path_of p + one * pause + own o <= path_of o.
Proof.
  intros L ys o later E U. destruct (L ys o later E U) as (-> & B & (d & T) & Le). exists d.
  destruct T as [[A D]|(before & zs & u & p & Ey & Hu & Lp & Up & J & A & D)]; [left; lia|right].
  exists before, zs, u, p. repeat (split; [assumption|]). lia.
Qed.
Lemma queues_wait xs st o p : exec xs st -> In o (launches xs) -> In p (launches xs) -> upper o = true ->
  may_meet (job_of o) p = true -> may_wait g o p = true -> job_of p = job_of o /\ path_of p + own o <= path_of o.
Proof.
  intros E Io Ip U M W. destruct (proj2 (proj2 (proj2 (Asked _ _ E))) o Io) as [Uo Co]. rewrite U in Uo. symmetry in Uo.
  assert (Ed := queued_edge g program who xs st o p E Io Ip W). 
  destruct (Nat.eq_dec (job_of p) (job_of o)) as [J|J].
  - split; [exact J|]. assert (Q := Path _ _ Ed Uo J). unfold path_of. simpl in Q. lia.
  - assert (Q := Queues_apart p o Ed Uo J). congruence.
Qed.
Lemma operations_in_time xs st : exec xs st -> launched_timely xs -> in_time xs.
Proof.
  intros E L ys more s o Ex H Lo U. destruct (Asked _ _ E) as (C & He & Co & Ho).
  apply (programs_hold g top blocks weight one xs C He Positive Co job_of release response path_of)
    with (may_meet := may_meet) (wait := wait_of) (xs := ys) (later := more); try assumption.
  - intros p. apply (released xs st p E).
  - intros j zs later u p. apply (Meets xs st j zs later u p E).
  - intros p q Ip Iq Up. apply (queues_wait xs st p q E Ip Iq Up).
  - apply (launched_so xs L).
  - intros p Ip Up. apply (Fits xs st p E Ip Up).
Qed.

(* And so are hosts. *)
Lemma call_in_time xs st h i c till more B : exec xs st -> launched_timely xs -> counted h i = true -> does h i c ->
  xs = till ++ more -> timely till (job h i) B -> B <= path (Does h i) - pauses program one h i ->
  clock till <= release (job h i) + until_of h i.
Proof.
  intros E L K D Exy (d & T) Bp. destruct (Fits_hosts xs st h i c E K D) as [Fit _]. set (j := job h i) in *.
  set (w := until_of h i) in *. set (load := sum (map (met_by j (release j + w)) (launches xs))) in *.
  assert (Cut : forall v x, one * v <= one * x -> v <= x) by (intros v x; apply Nat.mul_le_mono_pos_l, Positive).
  destruct T as [[A Ab]|(before & zs & u & p & Ex & Hu & Lp & Up & J & A & Ab)].
  { assert (d <= w) by (apply Cut; lia). lia. }
  assert (Short : d <= w) by (apply Cut; lia). enough (now u <= release j + (w - d)) by lia.
  apply Nat.nlt_ge. intros Late. destruct (Asked _ _ E) as (C & He & Co & Ho).
  assert (In_time := operations_in_time xs st E L).
  set (good := fun ys => exists rest, xs = ys ++ rest).
  assert (All : forall ys o, good ys -> In o (launches ys) -> launched_in xs o).
  { intros ys o [rest Q] I. unfold launched_in. rewrite Q, launches_app, in_app_iff. left. exact I. }
  set (mine := fun q => upper q && (job_of q =? j)).
  assert (Of_j : forall q, mine q = true -> upper q = true /\ job_of q = j).
  { intros q M. unfold mine in M. apply andb_true_iff in M. rewrite Nat.eqb_eq in M. exact M. }
  assert (Z : everywhere (fun q => mine q = true -> path_of p < path_of q) u).
  2: { assert (Q := everywhere_left _ u p Z Lp). unfold mine in Q. rewrite Up, J, Nat.eqb_refl in Q.
    specialize (Q eq_refl). lia. }
  apply (over_by_paths g top blocks (launched_in xs) C weight one He good) with (r := release j) (counts := may_meet j)
    (F := release j + (w - d)) (xs := before); try assumption.
  - intros l k [rest Q]. exists (k ++ rest). rewrite Q, app_assoc. reflexivity.
  - intros q M. apply (Of_j q M).
  - intros q M Lq. destruct (Of_j q M) as [Uq <-]. apply (released xs st q E Lq Uq).
  - intros q q' e l m M Lq Lq'. apply (Co q q' e l m Lq Lq'), (Of_j q M).
  - intros ys v Hv Gy Rv. apply (what_is_left g).
    + apply (sound_kept _ _ _ _ (sound_run g (launched_in xs) ys v Hv (fun q => All ys q Gy))).
    + intros q Lq Uq. destruct Gy as [rest Q]. apply (Meets xs st j ys rest v q E Q Hv Lq Uq Rv).
      assert (Y := In_time ys rest v q Q Hv Lq Uq). lia.
  - intros q q' M Lq Lq' Cq W. destruct (Of_j q M) as [Uq Jq]. rewrite <- Jq in Cq.
    destruct (queues_wait xs st q q' E Lq Lq' Uq Cq W) as [Jq' Le]. split; [|exact Le]. unfold mine.
    rewrite Jq', Jq, Nat.eqb_refl, andb_true_r. apply (waited_upper g top blocks _ C q q' Lq Lq' Uq W).
  - intros ys v q t Hv St [rest Q] M. destruct (Of_j q M) as [Uq Jq]. rewrite <- app_assoc in Q.
    destruct (launched_so xs L ys q rest Q Uq) as (pause & X). exists pause. rewrite Jq in X.
    destruct X as [X|(b & sn & v' & q' & Ey & Hb & Lq & Uq' & Jq' & X & Y)]; [left; exact X|right]. subst ys.
    destruct (midway g sn b (empty g) v Hv) as (v'' & Hb' & Hs). assert (Y' := one_end g _ _ _ Hb _ Hb'). subst v''.
    exists b, v', sn, q'. unfold mine. rewrite Uq', Jq', Nat.eqb_refl. tauto.
  - intros ys [rest Q] By. enough (work g top weight (may_meet j) (launches ys) <= load).
    { assert (M : one * (w - d) = one * w - one * d) by apply Nat.mul_sub_distr_l.
      assert (one * d <= one * w) by lia. rewrite Nat.mul_add_distr_l. lia. }
    unfold load. rewrite Q, launches_app, map_app, sum_app. unfold work.
    enough (sum (map (fun q => if may_meet j q then of_upper g top (work_of weight) q else 0) (launches ys)) <=
      sum (map (met_by j (release j + w)) (launches ys))) by lia.
    apply sum_le. intros q I. unfold met_by. assert (Y := By q I).
    rewrite (proj2 (Nat.leb_le (launched_at q) (release j + w)) ltac:(lia)), andb_true_r. apply le_n.
  - exists (zs ++ more). rewrite Exy, Ex, app_assoc. reflexivity.
Qed.
Lemma host_in_time xs st h c : exec xs st -> launched_timely xs -> counted h (done st h) = true -> does h (done st h) c
  ->
  known program job one (fun h i => path (Does h i)) timely xs st h -> clock xs <= by_when (job h (done st h)).
Proof.
  intros E L K D (T & (B & Tb & Le) & P). destruct (Fits_hosts xs st h _ c E K D) as [_ Short]. unfold programs.by_when.
  destruct (told_since _ _ _ _ (exec_told xs st E) h) as [ys Ex].
  assert (Before := call_in_time xs st h _ c _ ys B E L K D Ex Tb ltac:(lia)).
  assert (X : (exists e, c = Pause e) \/ pause program h (done st h) = 0).
  { unfold pause. rewrite D. destruct c; [right; reflexivity|left; eauto|right; reflexivity..]. }
  destruct X as [[e ->]|Z].
  - specialize (P e D). unfold pause in Short. rewrite D in Short. lia.
  - assert (N := call_in_time xs st h _ c xs [] _ E L K D (eq_sym (app_nil_r _)) T). unfold pauses in N.
    rewrite Z in N. lia.
Qed.

Lemma timely_more xs j A B : timely xs j A -> A <= B -> timely xs j B.
Proof.
  intros (d & [[X Y]|(b & ys & u & p & X)]) Le; exists d; [left; lia|right]. exists b, ys, u, p.
  repeat (split; [apply X|]). lia.
Qed.
Lemma timely_later xs ys j B d : timely xs j B -> clock (xs ++ ys) <= clock xs + d -> timely (xs ++ ys) j (B + one * d).
Proof.
  intros (e & T) Le. exists (e + d). rewrite Nat.mul_add_distr_l.
  destruct T as [[X Y]|(b & zs & u & p & -> & Hu & Lp & Up & J & X & Y)]; [left; lia|right].
  exists b, (zs ++ ys), u, p. rewrite app_assoc. repeat (split; [first [reflexivity|assumption]|]). lia.
Qed.
Lemma timely_same xs x j B : clock (xs ++ [x]) = clock xs -> timely xs j B -> timely (xs ++ [x]) j B.
Proof.
  intros E T. rewrite <- (Nat.add_0_r B), <- (Nat.mul_0_r one). apply timely_later; [exact T|]. lia.
Qed.
Lemma timely_at_release xs j d B : clock xs <= release j + d -> one * d <= B -> timely xs j B.
Proof. intros X Y. exists d. left. split; assumption. Qed.
Lemma awaited_timely xs st h w p B : exec xs st -> launched_timely xs -> counted h (done st h) = true ->
  does h (done st h) (Await w) -> awaited w h (since st h) p -> left_at g xs p -> timely (since st h) (job h (done st
    h)) B ->
  B <= path (Does h (done st h)) -> timely xs (job h (done st h)) (path (Does h (done st h))).
Proof.
  intros E L K D A (u & Hu & Lu) _ _. assert (Ed := awaited_edge g program who xs st h w p E D A).
  destruct (left_is_launched g _ u p Hu Lu) as [Ip _].
  assert (Up := proj1 (proj2 (proj2 (proj2 (Asked _ _ E))) p Ip)). rewrite (Closed_waits _ _ _ _ Ed K) in Up.
  assert (Nu := now_is_clock _ u Hu). destruct (Nat.eq_dec (job_of p) (job h (done st h))) as [J|J].
  - exists 0. right. exists xs, [], u, p. rewrite app_nil_r. repeat (split; [first [reflexivity|assumption]|]).
    split; [lia|]. assert (Q := Path _ _ Ed K J). unfold path_of. lia.
  - apply (timely_at_release _ _ 0); [|lia].
    assert (Z := operations_in_time _ st E L xs [] u p (eq_sym (app_nil_r _)) Hu Lu Up).
    destruct (Waits_apart p h _ Ed K J) as [Q|Q]; [lia|]. apply Nat.nlt_ge. intros Lt.
    assert (M := Meets _ st (job h (done st h)) _ [] u p E (eq_sym (app_nil_r _)) Hu Lu Up ltac:(lia) ltac:(lia)).
    congruence.
Qed.
Lemma goes_timely xs st x : exec (xs ++ [x]) st -> launched_timely xs -> (forall o, x <> Launch o) ->
  launched_timely (xs ++ [x]).
Proof.
  intros _ L N ys o later Ex. destruct later as [|y later _] using rev_ind.
  - apply app_inj_tail in Ex. destruct Ex as [_ Ex]. destruct (N o Ex).
  - rewrite app_comm_cons, app_assoc in Ex. apply app_inj_tail in Ex. destruct Ex as [Ex _]. apply (L ys o later Ex).
Qed.
Lemma launches_timely xs st h o e : exec xs st -> launched_timely xs -> does h (done st h) (Submit (stream o) (what o)
  e) ->
  who (number o) = (h, done st h) -> exec (xs ++ [Launch o]) (goes h (xs ++ [Launch o]) st) ->
  (counted h (done st h) = true -> timely xs (job h (done st h)) (path (Does h (done st h)))) ->
  launched_timely (xs ++ [Launch o]).
Proof.
  intros E L Dh W E' T ys p later Ex Up. destruct later as [|y later _] using rev_ind.
  - apply app_inj_tail in Ex. destruct Ex as [<- Ex]. injection Ex as <-. destruct (exec_steps _ _ E') as [s H].
    destruct (last_step g _ _ _ _ H) as (u & Hu & St).
    destruct (launched_now g u _ s o St (or_introl eq_refl)) as (_ & At & _).
    split; [rewrite At; apply (now_is_clock xs u Hu)|].
    assert (Io : launched_in (xs ++ [Launch o]) o) by (unfold launched_in; rewrite launches_app, in_app_iff; simpl;
      tauto).
    destruct (proj2 (proj2 (proj2 (Asked _ _ E'))) o Io) as [U Co]. rewrite Up in U. symmetry in U.
    unfold job_of, path_of. unfold by_host, by_call in *. rewrite W in *. simpl in *.
    exists (path (Does h (done st h))). split; [apply (T U)|].
    assert (Q := Path _ _ (Launched _ _ _ h (done st h)) U eq_refl). simpl in Q. lia.
  - rewrite app_comm_cons, app_assoc in Ex. apply app_inj_tail in Ex. destruct Ex as [Ex _]. apply (L ys p later Ex Up).
Qed.

(* So no job is late at any point of any run: neither an operation is left, nor has its host a call to do. *)
Theorem hosts_hold : forall xs st, exec xs st ->
  (forall s o, steps g (empty g) xs s -> is_left s o -> upper o = true -> now s <= by_when (job_of o)) /\
  (forall h c, counted h (done st h) = true -> does h (done st h) c -> clock xs <= by_when (job h (done st h))).
Proof.
  intros xs st E. assert (Z : launched_timely xs /\ on_path program counted job one (fun h i => path (Does h i)) timely
    xs st).
  { apply (runs_on_path g program who counted job release by_when one (fun h i => path (Does h i))) with (rank := rank);
      try assumption.
    - intros h i K. apply (Own (Does h i) K).
    - intros k j h i Ed K J. apply (Path _ _ Ed K J).
    - intros ys j A B. apply timely_more.
    - intros ys zs j B d T _. apply (timely_later ys zs j B d T).
    - intros ys j d B _. apply timely_at_release.
    - intros ys st' h c. apply host_in_time.
    - intros ys st' h w p B. apply awaited_timely.
    - intros ys o later Ex. destruct (app_cons_not_nil _ _ _ Ex).
    - intros ys st' x. apply goes_timely.
    - intros ys st' h o e. apply launches_timely. }
  destruct Z as [L P]. split.
  - intros s o H Lo U. apply (operations_in_time xs st E L xs [] s o ltac:(symmetry; apply app_nil_r) H Lo U).
  - intros h c K D. apply (host_in_time xs st h c E L K D), (P h c K D).
Qed.
End Host_paths.
