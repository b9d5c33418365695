(* A checker of certificates where kernels share the GPU and releases are not given, and what follows once it accepts
   one: how much each block weighs, and for each stream a bound on its responses. *)
From Coq Require Import List Arith Bool Lia Permutation.
Import ListNotations.
From gpusched Require Import model lists usage progress serial closed busy certificate waits shared sharing arrivals
  sporadic carried.

Fixpoint once (l : list nat) : bool :=
  match l with [] => true | x :: rest => negb (existsb (Nat.eqb x) rest) && once rest end.
Lemma once_NoDup l : once l = true -> NoDup l.
Proof.
  induction l as [|x l IH]; intros H; [constructor|]. simpl in H. apply andb_true_iff in H. destruct H as [N H].
  constructor; [|apply IH, H]. intros I. apply negb_true_iff in N. apply Bool.not_true_iff_false in N. apply N.
  apply existsb_exists. exists x. split; [exact I|apply Nat.eqb_refl].
Qed.

Section Responses.
Variables (g : device) (top : nat) (tasks : list task) (scale : nat) (weights : list (resources * nat)).
(* Of streams, by how long after its launch each operation is over: what is to be seen, and what is known already. *)
Variables bounds known : list (nat * nat).

Definition response (q : nat) : nat := match find (fun x => fst x =? q) bounds with Some x => snd x | None => 0 end.
Definition items : list item := map (fun k => Item (fst k) 0 (snd k)) (task_kinds tasks).
Let kinds := kinds items.
Let one := all_sms g scale.
Let blocks (l : nat) : nat := nth l (table g top kinds) 0.
Definition is_upper (k : task) : bool := sporadic.is_upper g top k.
Definition work_in (q : nat) (what : model.work) : nat :=
  of_upper g top (work_of (weight g scale weights)) (of_kind (q, what)).
Definition time_in (q : nat) (what : model.work) : nat := takes_time top blocks (of_kind (q, what)).
(* What a task adds while stream [q] is busy: of its own what may be launched then, of others also what may be left. *)
Definition adds_to (q : nat) (k : task) : nat :=
  let s := task_stream k in
  if s =? q then
    ((response q + jitter k) / period k + 1) * sum (map (fun what => one * time_in s what + work_in s what) (works k))
  else ((response q + response s + jitter k) / period k + 1) * sum (map (work_in s) (works k)).
Definition is_known (q : nat) : bool := existsb (fun x => (fst x =? q) && (snd x <=? response q)) known.
Definition is_served (k : task) : bool :=
  let q := task_stream k in
  negb (is_upper k) || ((0 <? period k) && (is_known q || (sum (map (adds_to q) tasks) <=? one * response q))).
Definition accept_level : bool :=
  closedb g top kinds && enough_weight g top items scale weights && all_alone g top items
  && once (map task_stream tasks) && forallb is_served tasks.

Lemma the_kinds : kinds = task_kinds tasks.
Proof.
  unfold kinds, sharing.kinds, items. rewrite map_map. unfold kind_at. simpl. rewrite <- map_id.
  apply map_ext. intros [q w]. reflexivity.
Qed.

Variable all : list arrival.
Hypothesis So : arrive_so tasks all.
Definition of_jobs (l : list operation) : Prop :=
  exists rest, Permutation (map item_of l ++ rest) (flat_map (launched_by tasks) all).

Lemma of_jobs_in l o : of_jobs l -> In o l -> exists a k, In a all /\ nth_error tasks (task_of a) = Some k /\
  stream o = task_stream k /\ launched_at o = released a /\ In (what o) (works k).
Proof.
  intros [rest H] I. assert (J : In (item_of o) (flat_map (launched_by tasks) all)).
  { eapply Permutation_in; [exact H|]. apply in_app_iff. left. apply in_map, I. }
  apply in_flat_map in J. destruct J as (a & Ia & J). unfold launched_by in J.
  destruct (nth_error tasks (task_of a)) as [k|] eqn:E; [|destruct J]. apply in_map_iff in J. destruct J as (x & Z & J).
  unfold item_of in Z. injection Z as <- <- <-. exists a, k. auto.
Qed.
Lemma of_jobs_mine l o : of_jobs l -> In o l -> mine kinds o.
Proof.
  intros H I. destruct (of_jobs_in l o H I) as (a & k & _ & E & S & _ & W). unfold mine. rewrite the_kinds.
  apply in_flat_map. exists k. split; [apply (nth_error_In _ _ E)|]. unfold kind_of. rewrite S. apply in_map, W.
Qed.

Hypothesis Once : once (map task_stream tasks) = true.
Hypothesis Served : forallb is_served tasks = true.

Lemma two_sums {A} c (f h : A -> nat) l :
  c * sum (map f l) + sum (map h l) = sum (map (fun x => c * f x + h x) l).
Proof. induction l as [|x l IH]; simpl; [lia|]. rewrite <- IH. lia. Qed.

(* What one launch adds. *)
Definition one_adds (q x : nat) (i : item) : nat :=
  let s := item_stream i in
  if (x <=? item_at i + (if s =? q then 0 else response s)) && (item_at i <=? x + response q) then
    (if s =? q then one * time_in s (item_work i) else 0) + work_in s (item_work i)
  else 0.

Lemma served_so q x l o : of_jobs l -> In o l -> upper g top o = true -> is_known q = false -> stream o = q ->
  launched_at o = x -> (forall z, In z l -> launched_at z <= x + response q) ->
  one * own_time top blocks q x l + carried g top (weight g scale weights) response q x l <= one * response q.
Proof.
  intros H Io U N Sq Lo Early. destruct (of_jobs_in l o H Io) as (a & k & Ia & Ea & Sa & La & _).
  assert (V := Served). rewrite forallb_forall in V. specialize (V k (nth_error_In _ _ Ea)).
  unfold is_served, is_upper, sporadic.is_upper in V. rewrite <- Sa, Sq in V. unfold upper in U. rewrite Sq in U.
  rewrite U, N in V. simpl in V. rewrite andb_true_iff, Nat.ltb_lt, Nat.leb_le in V. destruct V as [Pos V].
  unfold own_time, carried. rewrite two_sums.
  eapply Nat.le_trans; [|exact V]. clear V.
  eapply Nat.le_trans; [apply (sum_le _ (fun z => one_adds q x (item_of z)))|].
  { intros z I. specialize (Early z I). unfold one_adds, item_of, counts. simpl.
    rewrite (proj2 (Nat.leb_le _ _) Early), andb_true_r.
    change (of_upper g top (work_of (weight g scale weights)) z) with (work_in (stream z) (what z)).
    destruct (Nat.eqb_spec (stream z) q) as [E|E]; simpl.
    - rewrite E, Nat.add_0_r. change (takes_time top blocks z) with (time_in q (what z)).
      destruct (x <=? launched_at z); lia.
    - destruct (x <=? launched_at z + response (stream z)); lia. }
  assert (Perm : sum (map (fun z => one_adds q x (item_of z)) l) <=
    sum (map (one_adds q x) (flat_map (launched_by tasks) all))).
  { destruct H as [rest H]. assert (Q : forall m n, Permutation m n ->
      sum (map (one_adds q x) m) = sum (map (one_adds q x) n)) by (intros m n Z; induction Z; simpl; lia).
    rewrite <- (Q _ _ H), map_app, sum_app, map_map. lia. }
  eapply Nat.le_trans; [exact Perm|]. rewrite of_launches.
  apply (of_all_tasks tasks (fun j r => sum (map (fun w => one_adds q x (Item (task_stream j) r w)) (works j))));
    [exact So|].
  intros j m Ij F R. unfold adds_to, one_adds. simpl. destruct (Nat.eqb_spec (task_stream j) q) as [E|E].
  - assert (j = k).
    { apply once_NoDup in Once. apply In_nth_error in Ij. destruct Ij as [n En].
      assert (n = task_of a); [|congruence]. apply (proj1 (NoDup_nth_error _) Once).
      - rewrite map_length. apply nth_error_Some. congruence.
      - rewrite (map_nth_error _ _ _ En), (map_nth_error _ _ _ Ea). congruence. }
    subst j. set (c := sum (map (fun w => one * time_in (task_stream k) w + work_in (task_stream k) w) (works k))).
    eapply Nat.le_trans; [|eapply Nat.le_trans;
      [apply (of_one_task (period k) (jitter k) x 0 (response q) c m F R); lia|]].
    + apply sum_le. intros b _. destruct (_ && _); [apply le_n|]. rewrite sum_none; [apply le_n|reflexivity].
    + rewrite Nat.add_0_r. apply le_n.
  - set (c := sum (map (work_in (task_stream j)) (works j))).
    assert (W : forall r, sum (map (fun w => if (x <=? r + response (task_stream j)) && (r <=? x + response q)
      then 0 + work_in (task_stream j) w else 0) (works j)) <=
      if (x <=? r + response (task_stream j)) && (r <=? x + response q) then c else 0).
    { intros r. destruct (_ && _); [apply le_n|]. rewrite sum_none; [apply le_n|reflexivity]. }
    destruct (is_upper j) eqn:Uj.
    + eapply Nat.le_trans; [|apply (of_one_task (period j) (jitter j) x (response (task_stream j)) (response q) c m F R)].
      * apply sum_le. intros b _. apply W.
      * rewrite forallb_forall in Served. assert (V := Served j Ij). unfold is_served in V. rewrite Uj in V. simpl in V.
        rewrite andb_true_iff, Nat.ltb_lt in V. tauto.
    + rewrite sum_none; [apply Nat.le_0_l|]. intros b _. apply Nat.le_0_r. eapply Nat.le_trans; [apply W|].
      assert (c = 0); [|destruct (_ && _); lia]. unfold c. apply sum_none. intros w _. unfold work_in, of_upper, upper.
      simpl. unfold is_upper, sporadic.is_upper in Uj. rewrite Uj. reflexivity.
Qed.
End Responses.

(* What is known of a run's jobs. *)
Definition hold (g : device) (tasks : list task) (all : list arrival) (bounds : list (nat * nat)) : Prop :=
  forall q v, In (q, v) bounds -> forall xs s, steps g (empty g) xs s -> of_jobs tasks all (launches xs) ->
  everywhere (fun o => stream o = q -> now s <= launched_at o + v) s.

Lemma accepted_level g top tasks scale weights bounds known all : arrive_so tasks all ->
  accept_level g top tasks scale weights bounds known = true -> hold g tasks all known ->
  hold g tasks all (filter (fun x => (level_of g top (fst x) <? top) && (response bounds (fst x) <=? snd x)) bounds).
Proof.
  intros So H K q v I xs s St G. apply filter_In in I. destruct I as [_ U]. simpl in U.
  rewrite andb_true_iff, Nat.leb_le in U. destruct U as [U Le].
  unfold accept_level in H. rewrite !andb_true_iff in H. destruct H as [[[[Cl En] Al] On] Se].
  assert (Hold := responses_hold g top (fun l => nth l (table g top (kinds (items tasks))) 0) (mine (kinds (items tasks)))
    (accepted_closed g top _ Cl) (weight g scale weights) (all_sms g scale)
    (enough_is_heavy g top (items tasks) scale weights En)).
  assert (Pos : 0 < all_sms g scale).
  { unfold enough_weight in En. rewrite !andb_true_iff, Nat.ltb_lt in En. apply En. }
  specialize (Hold Pos (response bounds) (of_jobs tasks all) (is_known bounds known)).
  eapply everywhere_weaker; [|apply Hold with (xs := xs)].
  - simpl. intros o A S. specialize (A ltac:(unfold upper; rewrite S; exact U)). rewrite S in A. lia.
  - intros l m [r Z]. exists (map item_of m ++ r). rewrite map_app, <- app_assoc in Z. exact Z.
  - intros l o J Io. apply (of_jobs_mine tasks all l o J Io).
  - intros p Lp. destruct (existsb (fun x => fst x =? p) (kinds (items tasks))) eqn:E.
    + apply alone_streams; assumption.
    + assert (None_there : forall o, mine (kinds (items tasks)) o -> stream o = p -> False).
      { intros o M S. apply Bool.not_true_iff_false in E. apply E. apply existsb_exists. exists (kind_of o).
        split; [exact M|apply Nat.eqb_eq, S]. }
      split; [exact Lp| | |]; intros; exfalso; eauto.
  - intros p Kp ys t Sy Gy. unfold is_known in Kp. apply existsb_exists in Kp. destruct Kp as ([p' r] & Ip & Z).
    simpl in Z. rewrite andb_true_iff, Nat.eqb_eq, Nat.leb_le in Z. destruct Z as [-> Z].
    eapply everywhere_weaker; [|apply (K p r Ip ys t Sy Gy)]. simpl. intros o A S. specialize (A S). lia.
  - intros l o J Io Uo No Early. apply (served_so g top tasks scale weights bounds known all So On Se _ _ l o); auto.
  - exact St.
  - exact G.
Qed.

(* Streams of so many of the highest priorities, with weights of their blocks and a bound on each stream; then those of
   more. *)
Record stage := Stage {
  stage_top : nat; stage_scale : nat; stage_weights : list (resources * nat); stage_bounds : list (nat * nat) }.
(* A window within which all is over that streams of so many of the highest priorities launch. *)
Record window := Window { window_top : nat; window_length : nat; window_shares : list share }.
Section Stages.
Variables (g : device) (tasks : list task).
Definition shown_by_window (w : window) : list (nat * nat) :=
  if accept_window g (window_top w) tasks (window_length w) (window_shares w) []
  then map (fun k => (task_stream k, window_length w)) (filter (sporadic.is_upper g (window_top w)) tasks) else [].
Definition shown_by (s : stage) : list (nat * nat) :=
  filter (fun x => (level_of g (stage_top s) (fst x) <? stage_top s) && (response (stage_bounds s) (fst x) <=? snd x))
    (stage_bounds s).
Fixpoint accept_stages (known : list (nat * nat)) (all : list stage) : option (list (nat * nat)) :=
  match all with
  | [] => Some known
  | s :: rest =>
      if accept_level g (stage_top s) tasks (stage_scale s) (stage_weights s) (stage_bounds s) known
      then accept_stages (shown_by s ++ known) rest else None
  end.
Definition proves_response (known : list (nat * nat)) (claim : nat * nat) : bool :=
  match nth_error tasks (fst claim) with
  | Some k => existsb (fun x => (fst x =? task_stream k) && (jitter k + snd x <=? snd claim)) known
  | None => false
  end.
Definition accept_responses (windows : list window) (all : list stage) (claims : list (nat * nat)) : bool :=
  match accept_stages (flat_map shown_by_window windows) all with
  | Some known => forallb (proves_response known) claims
  | None => false
  end.

Lemma stages_hold jobs : arrive_so tasks jobs -> forall all known shown, accept_stages known all = Some shown ->
  hold g tasks jobs known -> hold g tasks jobs shown.
Proof.
  intros So. induction all as [|s all IH]; intros known shown H K; simpl in H; [injection H as <-; exact K|].
  destruct (accept_level _ _ _ _ _ _ _) eqn:E; [|discriminate H]. apply (IH _ _ H).
  intros q v I. apply in_app_iff in I. destruct I as [I|I]; [|apply (K q v I)].
  apply (accepted_level g _ tasks _ _ _ known jobs So E K q v I).
Qed.

Lemma windows_hold jobs windows : arrive_so tasks jobs -> hold g tasks jobs (flat_map shown_by_window windows).
Proof.
  intros So q v I xs s St [rest Perm]. apply in_flat_map in I. destruct I as (w & _ & I). unfold shown_by_window in I.
  destruct (accept_window _ _ _ _ _ _) eqn:E; [|destruct I]. apply in_map_iff in I. destruct I as (k & Z & I).
  injection Z as <- <-. apply filter_In in I. destruct I as [_ U].
  eapply everywhere_weaker; [|apply (over_in_window g _ tasks _ _ _ jobs E So xs s rest St Perm)].
  simpl. intros o A S. apply A. unfold upper. rewrite S. exact U.
Qed.

Theorem accepted_responses_hold : forall windows stages claims, accept_responses windows stages claims = true ->
  over_as_claimed g tasks claims.
Proof.
  intros windows stages claims H n bound k Ic Ek all So xs s rest St Perm a Ia Na Late.
  unfold accept_responses in H. destruct (accept_stages _ stages) as [shown|] eqn:E; [|discriminate H].
  rewrite forallb_forall in H. specialize (H _ Ic). unfold proves_response in H. simpl in H. rewrite Ek in H.
  apply existsb_exists in H. destruct H as ([q v] & I & H). simpl in H.
  rewrite andb_true_iff, Nat.eqb_eq, Nat.leb_le in H. destruct H as [-> Le]. rewrite <- Na in Ek.
  destruct (proj1 So a k Ia Ek) as [_ R].
  eapply everywhere_weaker; [|apply (stages_hold all So stages _ shown E (windows_hold all windows So) _ v I xs s St)].
  - simpl. intros o A [S L]. specialize (A S). lia.
  - exists rest. exact Perm.
Qed.
End Stages.
