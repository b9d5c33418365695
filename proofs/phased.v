(* A checker of bounds on hosts whose releases are not given: each job of a host is released up to a jitter after it
   arrived, a period or more after the one before, and then sleeps or works no longer than stated, submits to streams
   that no other host uses, and waits for what is there. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial busy closed choices certificate waits shared sharing
  arrivals carried heads paths others ends programs hosts segments host_waits.

(* What a host does in each job, with its longest pauses. *)
Record host_task := HostTask { host_period : nat; host_jitter : nat; host_body : list call }.

Section Phased.
Variables (g : device) (top : nat) (tasks : list host_task) (scale : nat) (weights : list (resources * nat)).
(* Of each host, by how long after its release a job is over. *)
Variable responses : list nat.
Definition response (h : nat) : nat := nth h responses 0.
Definition task_at (h : nat) : host_task := nth h tasks (HostTask 0 0 []).
Definition body (h : nat) : list call := host_body (task_at h).
Definition everyone : list nat := seq 0 (length tasks).

Definition items_in (l : list call) : list item :=
  flat_map (fun c => match c with Submit q w _ => [Item q 0 w] | _ => [] end) l.
Definition all_launched : list item := flat_map (fun k => items_in (host_body k)) tasks.
Definition streams_in (l : list call) : list nat := map item_stream (items_in l).
Let kinds := sharing.kinds all_launched.
Let one := all_sms g scale.
Let blocks (l : nat) : nat := nth l (table g top kinds) 0.
Local Notation weight := (weight g scale weights).

Definition is_above (h : nat) : bool := forallb (fun q => level_of g top q <? top) (streams_in (body h)).
Definition is_below (h : nat) : bool := forallb (fun q => negb (level_of g top q <? top)) (streams_in (body h)).
(* No stream waits for one of another host. *)
Definition are_apart (h k : nat) : bool :=
  forallb (fun q => forallb (fun p => negb (coupled g q p) || ((h =? k) && (p =? q))) (streams_in (body k)))
    (streams_in (body h)).
Definition waits_for_own (h : nat) (c : call) : bool :=
  match c with
  | Submit _ _ _ | Pause _ | Await Last => true
  | Await (In_streams l) =>
      forallb (fun q => forallb (fun k => (k =? h) || negb (existsb (Nat.eqb q) (streams_in (body k)))) everyone) l
  | _ => false
  end.
Definition pause_of (c : call) : nat := match c with Pause e => e | _ => 0 end.
(* What a call adds to what host [h] waits for; [is_own]: it is of the same job. *)
Definition cost (is_own : bool) (c : call) : nat :=
  match c with
  | Submit q w _ =>
      let o := of_kind (q, w) in
      of_upper g top (work_of weight) o + if is_own then own top blocks weight one o else 0
  | _ => 0
  end.
Definition before (h k : nat) : nat := if k =? h then 0 else response k.
Definition after (h k : nat) : nat := if k =? h then 0 else response h.
Definition adds_to (h k : nat) : nat :=
  ((after h k + before h k + host_jitter (task_at k)) / host_period (task_at k) + 1) *
  sum (map (cost (k =? h)) (body k)).
Definition fits_response (h : nat) : bool :=
  (response h + host_jitter (task_at h) <? host_period (task_at h))
  && (one * sum (map pause_of (body h)) + sum (map (adds_to h) everyone) <=? one * response h).
Definition accept_host (h : nat) : bool :=
  (0 <? host_period (task_at h)) && (is_above h || is_below h)
  && forallb (are_apart h) everyone
  && (negb (is_above h) || forallb (waits_for_own h) (body h) && fits_response h).
(* That each job of a host is over so long after it arrived. *)
Definition proves_host (claim : nat * nat) : bool :=
  (fst claim <? length tasks) && is_above (fst claim)
  && (host_jitter (task_at (fst claim)) + response (fst claim) <=? snd claim).
Definition accept_phased (claims : list (nat * nat)) : bool :=
  closedb g top kinds && enough_weight g top all_launched scale weights && forallb accept_host everyone
  && forallb proves_host claims.

(* A run: the jobs of each host, with what it does in them. *)
Definition no_longer (c stated : call) : Prop :=
  match c, stated with Pause e, Pause f => e <= f | _, _ => c = stated end.
Variable jobs : nat -> list (arrival * list call).
Definition come_so (h : nat) : Prop :=
  ForallOrdPairs (fun a b => arrives a + host_period (task_at h) <= arrives b) (map fst (jobs h)) /\
  forall a, In a (jobs h) -> arrives (fst a) <= arrivals.released (fst a) /\
    arrivals.released (fst a) <= arrives (fst a) + host_jitter (task_at h) /\ Forall2 no_longer (snd a) (body h).
Definition tagged (h : nat) : list (arrival * call) :=
  flat_map (fun a => map (pair (fst a)) (Timer (arrivals.released (fst a)) :: snd a)) (jobs h).
Definition program (h : nat) : list call := if h <? length tasks then map snd (tagged h) else [].
Definition size (h : nat) : nat := S (length (body h)).
Hypothesis So : forall h, h < length tasks -> come_so h.

Lemma blocks_of {A} L (f : A -> list call) (t : A -> arrival) (l : list A) : (forall a, In a l -> length (f a) = S L) ->
  forall i x, nth_error (flat_map (fun a => map (pair (t a)) (f a)) l) i = Some x ->
  exists a, nth_error l (i / S L) = Some a /\ fst x = t a /\ nth_error (f a) (i mod S L) = Some (snd x).
Proof.
  induction l as [|a l IH]; intros Len i x E; [destruct i; discriminate E|]. simpl in E.
  assert (La := Len a (or_introl eq_refl)). destruct (Nat.lt_ge_cases i (S L)) as [Lt|Ge].
  - rewrite nth_error_app1 in E by (rewrite map_length, La; exact Lt).
    rewrite Nat.div_small, Nat.mod_small by exact Lt. exists a. split; [reflexivity|].
    rewrite nth_error_map in E. destruct (nth_error (f a) i); [|discriminate E]. injection E as <-. split; reflexivity.
  - rewrite nth_error_app2 in E by (rewrite map_length, La; exact Ge). rewrite map_length, La in E.
    destruct (IH (fun b I => Len b (or_intror I)) _ _ E) as (b & B & T & C). exists b.
    replace i with (i - S L + 1 * S L) by lia. rewrite Nat.div_add, Nat.mod_add by lia.
    rewrite Nat.add_1_r. replace (i - S L + 1 * S L - S L) with (i - S L) in * by lia. tauto.
Qed.
Lemma task_is h c i : nth_error (program h) i = Some c -> h < length tasks.
Proof.
  unfold program. destruct (Nat.ltb_spec h (length tasks)); [tauto|]. intros E. destruct i; discriminate E.
Qed.
Lemma length_of h a : h < length tasks -> In a (jobs h) -> length (Timer (arrivals.released (fst a)) :: snd a) = size h.
Proof.
  intros L I. destruct (So h L) as [_ R]. destruct (R a I) as (_ & _ & F). simpl. unfold size.
  f_equal. clear - F. induction F; simpl; congruence.
Qed.
Lemma call_is h i c : nth_error (program h) i = Some c -> exists a, nth_error (jobs h) (i / size h) = Some a /\
  nth_error (tagged h) i = Some (fst a, c) /\
  match i mod size h with
  | 0 => c = Timer (arrivals.released (fst a))
  | S m => exists d, nth_error (body h) m = Some d /\ no_longer c d
  end.
Proof.
  intros E. assert (L := task_is h c i E). unfold program in E. rewrite (proj2 (Nat.ltb_lt _ _) L) in E.
  rewrite nth_error_map in E. destruct (nth_error (tagged h) i) as [x|] eqn:T; [|discriminate E]. injection E as Ex.
  unfold size in *. destruct (blocks_of (length (body h)) (fun a => Timer (arrivals.released (fst a)) :: snd a) fst (jobs h)
    (fun a I => length_of h a L I) i x T) as (a & A & F & C).
  exists a. split; [exact A|]. split; [destruct x; simpl in *; congruence|].
  destruct (i mod S (length (body h))) as [|m]; simpl in C; [congruence|]. destruct (So h L) as [_ R].
  destruct (R a (nth_error_In _ _ A)) as (_ & _ & All). rewrite <- Ex. clear - C All. revert m C.
  induction All as [|y d l k Y All IH]; intros m C; [destruct m; discriminate C|].
  destruct m as [|m]; simpl in C; [injection C as <-; exists d; split; [reflexivity|exact Y]|]. apply (IH m C).
Qed.

(* Each job by a number; jobs of a host are apart. *)
Definition job_number (h i : nat) : nat := h + length tasks * (i / size h).
Definition host_of (j : nat) : nat := j mod length tasks.
Definition release (j : nat) : nat :=
  match nth_error (jobs (host_of j)) (j / length tasks) with Some a => arrivals.released (fst a) | None => 0 end.
Definition within (j : nat) : nat := response (host_of j).
Lemma number_is h i : h < length tasks -> host_of (job_number h i) = h /\ job_number h i / length tasks = i / size h.
Proof.
  intros L. unfold host_of, job_number. split.
  - rewrite Nat.mul_comm, Nat.mod_add by lia. apply Nat.mod_small, L.
  - rewrite Nat.mul_comm, Nat.div_add by lia. rewrite (Nat.div_small h) by exact L. reflexivity.
Qed.
Lemma released_at h i c a : nth_error (program h) i = Some c -> nth_error (jobs h) (i / size h) = Some a ->
  release (job_number h i) = arrivals.released (fst a) /\ within (job_number h i) = response h.
Proof.
  intros E A. assert (L := task_is h c i E). destruct (number_is h i L) as [H D]. unfold release, within.
  rewrite H, D, A. split; reflexivity.
Qed.
Lemma pairs_nth {A} (R : A -> A -> Prop) l : ForallOrdPairs R l -> forall i j a b, nth_error l i = Some a ->
  nth_error l j = Some b -> i < j -> R a b.
Proof.
  induction 1 as [|x l F H IH]; intros i j a b Ea Eb L; [destruct i; discriminate Ea|].
  destruct j as [|j]; [lia|]. destruct i as [|i]; simpl in Ea, Eb.
  - injection Ea as ->. rewrite Forall_forall in F. apply F, (nth_error_In _ _ Eb).
  - apply (IH i j a b Ea Eb). lia.
Qed.
Lemma in_order h k m a b : h < length tasks -> fits_response h = true -> nth_error (jobs h) k = Some a ->
  nth_error (jobs h) m = Some b -> k < m -> arrivals.released (fst a) + response h < arrivals.released (fst b).
Proof.
  intros L F A B Lt. destruct (So h L) as [P R]. unfold fits_response in F. rewrite andb_true_iff, Nat.ltb_lt in F.
  destruct F as [F _]. destruct (R a (nth_error_In _ _ A)) as (_ & Ra & _). destruct (R b (nth_error_In _ _ B)) as (Rb & _).
  assert (Q := pairs_nth _ _ P k m (fst a) (fst b)). rewrite !nth_error_map, A, B in Q. specialize (Q eq_refl eq_refl Lt).
  simpl in Q. lia.
Qed.

Variable who : nat -> nat * nat.
Local Notation exec := (exec g program who).
Local Notation edge := (edge g program who).
Local Notation by_host := (by_host who).
Local Notation by_call := (by_call who).
Local Notation upper := (upper g top).
Definition counted (h i : nat) : bool := (h <? length tasks) && is_above h && (i <? length (program h)).
Local Notation job_of o := (job_number (by_host o) (by_call o)).
Local Notation by_when := (by_when release within).
Definition may_meet (j : nat) (p : operation) : bool :=
  upper p && counted (by_host p) (by_call p) && (release j <=? by_when (job_of p)).
Definition related (j : nat) (p : operation) : bool := upper p && (job_of p =? j).
(* The pauses of a job up to a call. *)
Definition rest (h i : nat) : nat := sum (map pause_of (firstn (i mod size h) (body h))).

Hypothesis Closed_kinds : closedb g top kinds = true.
Hypothesis Weighty : enough_weight g top all_launched scale weights = true.
Hypothesis Accepted : forallb accept_host everyone = true.

Lemma accepted h : h < length tasks -> accept_host h = true.
Proof. intros L. rewrite forallb_forall in Accepted. apply Accepted, in_seq. lia. Qed.
Lemma fits_at h i : counted h i = true -> h < length tasks /\ is_above h = true /\ fits_response h = true /\
  forall c, In c (body h) -> waits_for_own h c = true.
Proof.
  unfold counted. rewrite !andb_true_iff, Nat.ltb_lt. intros [[L U] _]. assert (A := accepted h L). unfold accept_host in A.
  rewrite U in A. simpl in A. rewrite !andb_true_iff in A. destruct A as [_ [W F]]. rewrite forallb_forall in W. tauto.
Qed.
Lemma submits h i q w e : does program h i (Submit q w e) -> In (Submit q w e) (body h) /\ h < length tasks.
Proof.
  intros D. assert (L := task_is h _ i D). split; [|exact L]. destruct (call_is h i _ D) as (a & _ & _ & C).
  destruct (i mod size h) as [|m]; [discriminate C|]. destruct C as (d & E & N). apply nth_error_In in E.
  destruct d; simpl in N; try (rewrite N; exact E); discriminate N.
Qed.
Lemma in_streams h q w e : In (Submit q w e) (body h) -> In q (streams_in (body h)).
Proof.
  intros I. unfold streams_in. apply in_map_iff. exists (Item q 0 w). split; [reflexivity|].
  unfold items_in. apply in_flat_map. exists (Submit q w e). split; [exact I|left; reflexivity].
Qed.
(* Streams of which one waits for the other are one, of one host. *)
Lemma coupled_is_own h k i j q p v w d e : does program h i (Submit q v d) -> does program k j (Submit p w e) ->
  coupled g q p = true -> h = k /\ p = q.
Proof.
  intros D E C. destruct (submits _ _ _ _ _ D) as [Iq Lh], (submits _ _ _ _ _ E) as [Ip Lk].
  assert (A := accepted h Lh). unfold accept_host in A. rewrite !andb_true_iff in A. destruct A as [[_ A] _].
  rewrite forallb_forall in A. specialize (A k ltac:(apply in_seq; lia)). unfold are_apart in A.
  rewrite forallb_forall in A. specialize (A q (in_streams _ _ _ _ Iq)). rewrite forallb_forall in A.
  specialize (A p (in_streams _ _ _ _ Ip)). rewrite C in A. simpl in A. rewrite andb_true_iff, !Nat.eqb_eq in A. exact A.
Qed.
Lemma no_meeting h i c : does program h i c -> match c with Meet _ | Join _ | Await (Event _) => counted h i = false | _ => True end.
Proof.
  intros D. destruct (counted h i) eqn:K; [|destruct c as [| | |[]| |]; reflexivity || exact Logic.I].
  destruct (fits_at h i K) as (_ & _ & _ & W). destruct (call_is h i c D) as (a & _ & _ & C).
  destruct (i mod size h) as [|m]; [subst c; exact Logic.I|]. destruct C as (d & E & N). apply nth_error_In in E.
  specialize (W d E). destruct c as [| | |[]| |], d as [| | |[]| |]; try exact Logic.I; try discriminate N; discriminate W.
Qed.
Lemma one_call_later i n : match S i mod S n with
  | 0 => S i / S n = S (i / S n) /\ i mod S n = n
  | S m => S i / S n = i / S n /\ i mod S n = m
  end.
Proof.
  assert (D := Nat.div_mod i (S n) ltac:(lia)). assert (M := Nat.mod_upper_bound i (S n) ltac:(lia)).
  destruct (Nat.eq_dec (i mod S n) n) as [E|E].
  - assert (Q : S (i / S n) = S i / S n) by (apply (Nat.div_unique (S i) (S n) (S (i / S n)) 0); nia).
    assert (R : 0 = S i mod S n) by (apply (Nat.mod_unique (S i) (S n) (S (i / S n)) 0); nia). rewrite <- R. lia.
  - assert (Q : i / S n = S i / S n) by (apply (Nat.div_unique (S i) (S n) (i / S n) (S (i mod S n))); nia).
    assert (R : S (i mod S n) = S i mod S n) by (apply (Nat.mod_unique (S i) (S n) (i / S n) (S (i mod S n))); nia).
    rewrite <- R. lia.
Qed.
Lemma pauses_are h i c : does program h i c -> pauses program 1 h i <= rest h i /\
  (0 < i mod size h -> rest h (i - 1) + pauses program 1 h i <= rest h i).
Proof.
  intros D. destruct (call_is h i c D) as (a & _ & _ & C). unfold pauses, pause, rest. unfold does in D. rewrite D.
  destruct (i mod size h) as [|m] eqn:M.
  - subst c. simpl. lia.
  - destruct C as (d & E & N).
    assert (F : firstn (S m) (body h) = firstn m (body h) ++ [d]).
    { clear - E. revert m E. induction (body h) as [|x l IH]; intros m E; [destruct m; discriminate E|].
      destruct m as [|m]; simpl in E; [injection E as ->; reflexivity|]. simpl. rewrite <- (IH m E). reflexivity. }
    rewrite F, map_app, sum_app. assert (X : sum (map pause_of [d]) = pause_of d) by (simpl; lia). rewrite X.
    assert (P : match c with Pause e => e | _ => 0 end <= pause_of d).
    { destruct c, d; simpl in *; try lia; discriminate N. }
    split; [lia|]. intros _. assert (Q := one_call_later (i - 1) (length (body h))).
    assert (0 < i) by (destruct i; [rewrite Nat.mod_0_l in M by discriminate; discriminate M|lia]).
    replace (S (i - 1)) with i in Q by lia. change (S (length (body h))) with (size h) in Q. rewrite M in Q. destruct Q as [_ Q]. rewrite Q. lia.
Qed.

Lemma closed_of (P Q : operation -> Prop) : (forall o, Q o -> P o) -> closed g top blocks P -> closed g top blocks Q.
Proof. intros S [A B C D]. split; eauto. Qed.
Lemma kind_in h q w e : In (Submit q w e) (body h) -> h < length tasks -> In (q, w) kinds.
Proof.
  intros I L. unfold kinds, sharing.kinds. apply in_map_iff. exists (Item q 0 w). split; [reflexivity|].
  unfold all_launched. apply in_flat_map. exists (task_at h). split; [apply nth_In, L|].
  unfold items_in. apply in_flat_map. exists (Submit q w e). split; [exact I|left; reflexivity].
Qed.
Lemma launch_is xs st o : exec xs st -> In o (launches xs) -> by_host o < length tasks /\
  (exists e, In (Submit (stream o) (what o) e) (body (by_host o)) /\ does program (by_host o) (by_call o)
    (Submit (stream o) (what o) e)) /\ mine kinds o.
Proof.
  intros E I. destruct (told_call _ _ _ _ (exec_told g program who xs st E) o I) as (_ & e & D).
  destruct (submits _ _ _ _ _ D) as [J L]. split; [exact L|]. split; [exists e; tauto|].
  apply (kind_in _ _ _ _ J L).
Qed.
Lemma upper_is_counted xs st o : exec xs st -> In o (launches xs) -> upper o = counted (by_host o) (by_call o).
Proof.
  intros E I. destruct (launch_is xs st o E I) as (L & (e & J & D) & _).
  assert (Lt : by_call o < length (program (by_host o))) by (apply nth_error_Some; unfold does in D; congruence).
  unfold counted. rewrite (proj2 (Nat.ltb_lt _ _) L), (proj2 (Nat.ltb_lt _ _) Lt), andb_true_r. simpl.
  assert (S := in_streams _ _ _ _ J). assert (A := accepted _ L). unfold accept_host in A. rewrite !andb_true_iff in A.
  destruct A as [[[_ A] _] _]. unfold upper. destruct (is_above (by_host o)) eqn:U.
  - unfold is_above in U. rewrite forallb_forall in U. apply (U _ S).
  - simpl in A. unfold is_below in A. rewrite forallb_forall in A. apply negb_true_iff, (A _ S).
Qed.
Lemma asked_so xs st : exec xs st -> asked g who counted top blocks weight one xs.
Proof.
  intros E. split; [|split; [|split]].
  - apply (closed_of (mine kinds)); [intros o I; apply (launch_is xs st o E I)|apply (accepted_closed g top kinds Closed_kinds)].
  - intros s o n need lasts U Ps Po. apply (enough_is_heavy g top all_launched scale weights Weighty s o n need lasts U).
    + eapply everywhere_weaker; [|exact Ps]. intros p I. apply (launch_is xs st p E I).
    + apply (launch_is xs st o E Po).
  - intros o p e l m _ _ _ _ W. unfold sharing.weight. rewrite W. apply le_n.
  - intros o I. apply (upper_is_counted xs st o E I).
Qed.
Lemma edge_of_ends k j h i : edge (Ends k j) (Ends h i) -> k = h /\ j < i /\ i < length (program h) /\ h < length tasks.
Proof.
  intros Ed. inversion Ed; subst.
  - match goal with D : does program h i (Submit ?q _ _), E : does program k j (Submit ?p _ _), C : coupled g ?q ?p = true
      |- _ => destruct (coupled_is_own _ _ _ _ _ _ _ _ _ _ D E C) as [<- _]; assert (Li : i < length (program h))
        by (apply nth_error_Some; unfold does in D; congruence); assert (Lh := task_is _ _ _ D) end.
    repeat split; try assumption. match goal with A : h = h -> j < i |- _ => apply A; reflexivity end.
  - exfalso. match goal with D : does program h i _ |- _ => destruct (submits _ _ _ _ _ D) as [J L] end.
    assert (K := kind_in _ _ _ _ J L). assert (C := Closed_kinds).
    unfold closedb in C. rewrite !andb_true_iff, forallb_forall in C. destruct C as [[[A _] _] _].
    specialize (A _ K). discriminate A.
Qed.
Lemma edge_of_wait k j h i : edge (Ends k j) (Does h i) -> counted h i = true -> k = h /\ j < i /\ i < length (program h).
Proof.
  intros Ed Kh. inversion Ed; subst. destruct (fits_at h i Kh) as (L & _ & _ & W).
  match goal with D : does program h i (Await ?w) |- _ => assert (Dw := D); destruct (call_is h i _ D) as (a & _ & _ & C) end.
  assert (Li : i < length (program h)) by (apply nth_error_Some; unfold does in Dw; congruence).
  enough (Eq : k = h) by (subst k; split; [reflexivity|]; split; [|exact Li];
    match goal with A : h = h -> _ |- _ => apply (A eq_refl) end).
  destruct (i mod size h) as [|m]; [discriminate C|]. destruct C as (d & E & N). apply nth_error_In in E. specialize (W d E).
  match goal with Q : asks program ?x h k j |- _ => rename Q into Asks; rename x into w0 end.
  destruct Asks as (q & v & e & Dk & Asks).
  destruct d as [| | |w'| |]; try discriminate N. simpl in N. injection N as <-.
  destruct w0 as [l| |a']; [|exact Asks|discriminate W].
  simpl in W. rewrite forallb_forall in W. specialize (W q Asks). rewrite forallb_forall in W.
  destruct (submits _ _ _ _ _ Dk) as [J Lk]. specialize (W k ltac:(apply in_seq; lia)). apply orb_true_iff in W.
  destruct W as [W|W]; [apply Nat.eqb_eq, W|]. exfalso. apply negb_true_iff, Bool.not_true_iff_false in W. apply W.
  apply existsb_exists. exists q. split; [apply (in_streams _ _ _ _ J)|apply Nat.eqb_refl].
Qed.
Lemma edge_of_calls k j h i : edge (Does k j) (Does h i) -> counted h i = true -> k = h /\ i = S j.
Proof.
  intros Ed Kh. inversion Ed; subst; [split; reflexivity|exfalso..];
    match goal with D : does program h i _ |- _ => assert (Z := no_meeting h i _ D); simpl in Z; congruence end.
Qed.
(* Of two calls of a host, the later one is of the same job, or the job of the first is over when that of it comes. *)
Lemma earlier_job h j i : counted h i = true -> j < i -> job_number h j = job_number h i \/
  by_when (job_number h j) < release (job_number h i).
Proof.
  intros Kh Lt. destruct (fits_at h i Kh) as (L & _ & F & _). unfold counted in Kh. rewrite !andb_true_iff, !Nat.ltb_lt in Kh.
  destruct Kh as [_ Li]. destruct (nth_error (program h) i) as [c|] eqn:C; [|apply nth_error_None in C; lia].
  destruct (nth_error (program h) j) as [d|] eqn:D; [|apply nth_error_None in D; lia].
  destruct (call_is h i c C) as (a & A & _). destruct (call_is h j d D) as (b & B & _).
  destruct (Nat.eq_dec (j / size h) (i / size h)) as [E|N]; [left; unfold job_number; rewrite E; reflexivity|right].
  assert (Le : j / size h <= i / size h) by (apply Nat.div_le_mono; [discriminate|lia]).
  destruct (released_at h i c a C A) as [Ri _], (released_at h j d b D B) as [Rj Wj].
  unfold programs.by_when. rewrite Ri, Rj, Wj. apply (in_order h _ _ b a L F B A). lia.
Qed.
Lemma counted_earlier h j i : counted h i = true -> j < i -> counted h j = true.
Proof. unfold counted. rewrite !andb_true_iff, !Nat.ltb_lt. intros [A B] L. split; [exact A|lia]. Qed.

(* What one launch adds to what a job of host [h] that is released at [x] waits for. *)
Definition counts_in (h x k : nat) (a : arrival) : bool :=
  (x <=? arrivals.released a + before h k) && (arrivals.released a <=? x + after h k).
Definition one_adds (h x k : nat) (ac : arrival * call) : nat :=
  if counts_in h x k (fst ac) then cost (k =? h) (snd ac) else 0.
Definition call_adds (h x : nat) (hi : nat * nat) : nat :=
  match nth_error (tagged (fst hi)) (snd hi) with Some ac => one_adds h x (fst hi) ac | None => 0 end.
Definition tag (o : operation) : nat * nat := (by_host o, by_call o).
Definition all_calls : list (nat * nat) := flat_map (fun h => map (pair h) (seq 0 (length (tagged h)))) everyone.

Lemma sum_within {A B} (f : A -> nat) (t : A -> B) (F : B -> nat) (l : list A) : forall U,
  NoDup (map t l) -> (forall a, In a l -> In (t a) U /\ f a <= F (t a)) -> sum (map f l) <= sum (map F U).
Proof.
  induction l as [|a l IH]; intros U N H; [apply Nat.le_0_l|]. simpl in N. inversion N as [|x m Nin N']; subst.
  destruct (H a (or_introl eq_refl)) as [I L]. apply in_split in I. destruct I as (u & v & ->).
  assert (Q := IH (u ++ v) N'). rewrite map_app, sum_app in *. simpl. enough (sum (map f l) <= sum (map F u) + sum (map F v)) by lia.
  apply Q. intros b Ib. destruct (H b (or_intror Ib)) as [J Lb]. split; [|exact Lb]. rewrite in_app_iff in *. simpl in J.
  destruct J as [J|[J|J]]; try tauto. exfalso. apply Nin. rewrite J. apply in_map, Ib.
Qed.
Lemma tags_once xs st : exec xs st -> NoDup (map tag (launches xs)).
Proof.
  intros E. destruct (exec_steps g program who xs st E) as [s H]. revert st E. revert xs s H.
  enough (Z : forall l, (forall o p, In o l -> In p l -> number o = number p -> o = p) ->
    (forall o p, In o l -> In p l -> by_host p = by_host o -> number p < number o -> by_call p < by_call o) ->
    NoDup (map number l) -> NoDup (map tag l)).
  { intros xs s H st E. destruct (exec_told g program who xs st E) as [_ _ _ Or]. apply Z.
    - apply (same_number g xs s H).
    - intros o p Io Ip. apply (Or o p Io Ip).
    - clear - H. revert xs s H. apply (in_steps g (fun xs s => NoDup (map number (launches xs)))); [constructor|].
      intros xs s x t H St IH. rewrite launches_app, map_app. simpl. rewrite app_nil_r.
      destruct x; simpl; try (rewrite app_nil_r; exact IH).
      apply NoDup_rev in IH. rewrite <- (rev_involutive (map number (launches xs) ++ [number o])). apply NoDup_rev.
      rewrite rev_app_distr. simpl. constructor; [|exact IH]. intros I. apply in_rev in I. apply in_map_iff in I.
      destruct I as (p & Q & I). assert (N := number_of_launch g xs s p H I). inversion St; subst. lia. }
  induction l as [|o l IH]; intros Same Or N; [constructor|]. simpl in *. inversion N as [|x m Nin N']; subst. constructor.
  - intros I. apply in_map_iff in I. destruct I as (p & Q & I). unfold tag in Q. injection Q as Qh Qc.
    destruct (Nat.lt_trichotomy (number o) (number p)) as [L|[L|L]].
    + assert (Z := Or p o (or_intror I) (or_introl eq_refl) (eq_sym Qh) L). lia.
    + apply Nin. rewrite L. apply in_map, I.
    + assert (Z := Or o p (or_introl eq_refl) (or_intror I) Qh L). lia.
  - apply IH; [|intros p q Ip Iq; apply Or; right; assumption|exact N'].
    intros p q Ip Iq. apply Same; right; assumption.
Qed.
Lemma sum_flat {A B} (F : B -> nat) (f : A -> list B) l : sum (map F (flat_map f l)) = sum (map (fun a => sum (map F (f a))) l).
Proof. induction l as [|a l IH]; [reflexivity|]. simpl. rewrite map_app, sum_app, IH. reflexivity. Qed.
Lemma cost_of_job h k a : h < length tasks -> In a (jobs h) ->
  sum (map (cost k) (Timer (arrivals.released (fst a)) :: snd a)) = sum (map (cost k) (body h)).
Proof.
  intros L I. destruct (So h L) as [_ R]. destruct (R a I) as (_ & _ & F). simpl. clear - F.
  induction F as [|c d l m N F IH]; [reflexivity|]. simpl. rewrite IH. f_equal.
  destruct c, d; simpl in N; try discriminate N; try (injection N; intros; subst); reflexivity.
Qed.
Lemma calls_add h x : sum (map (call_adds h x) all_calls) <= sum (map (adds_to h) everyone).
Proof.
  unfold all_calls. rewrite sum_flat. apply sum_le. intros k Ik. apply in_seq in Ik. rewrite map_map. unfold call_adds. simpl.
  rewrite (seq_of_list (one_adds h x k) (tagged k)). unfold tagged. rewrite sum_flat.
  assert (A := accepted k ltac:(lia)). unfold accept_host in A. rewrite !andb_true_iff, Nat.ltb_lt in A.
  destruct A as [[[Pos _] _] _]. destruct (So k ltac:(lia)) as [P R].
  set (c := sum (map (cost (k =? h)) (body k))).
  eapply Nat.le_trans; [apply (sum_le _ (fun a => if counts_in h x k (fst a) then c else 0))|].
  - intros a Ia. rewrite map_map. unfold one_adds. simpl.
    destruct (counts_in h x k (fst a)) eqn:W.
    + apply Nat.eq_le_incl. apply (cost_of_job k (k =? h) a ltac:(lia) Ia).
    + rewrite sum_none; [apply le_n|]. reflexivity.
  - rewrite <- (map_map fst (fun a => if counts_in h x k a then c else 0)). unfold counts_in, adds_to.
    apply (of_one_task (host_period (task_at k)) (host_jitter (task_at k)) x (before h k) (after h k) c); [exact P| |exact Pos].
    intros a Ia. apply in_map_iff in Ia. destruct Ia as (b & <- & Ib). destruct (R b Ib) as (A & B & _). split; assumption.
Qed.
Lemma is_counted h i c : does program h i c -> is_above h = true -> counted h i = true.
Proof.
  intros D U. unfold counted. rewrite U, (proj2 (Nat.ltb_lt _ _) (task_is h c i D)). simpl. apply Nat.ltb_lt, nth_error_Some.
  unfold does in D. congruence.
Qed.
Lemma calls_closed k j h i : edge (Does k j) (Does h i) -> counted h i = true -> counted k j = true.
Proof. intros Ed K. destruct (edge_of_calls k j h i Ed K) as [-> ->]. apply (counted_earlier h j (S j) K). lia. Qed.
Lemma calls_start h i c : does program h i c -> segments.first job_number h i ->
  exists r, c = Timer r /\ release (job_number h i) <= r.
Proof.
  intros D F. destruct (call_is h i c D) as (a & A & _ & C). exists (arrivals.released (fst a)).
  destruct (released_at h i c a D A) as [-> _]. split; [|apply le_n]. destruct F as [->|(j & -> & N)].
  - rewrite Nat.mod_0_l in C by discriminate. exact C.
  - assert (Q := one_call_later j (length (body h))). change (S (length (body h))) with (size h) in Q.
    destruct (S j mod size h) as [|m]; [exact C|]. exfalso. apply N. unfold job_number. destruct Q as [-> _]. reflexivity.
Qed.
Lemma fits_so xs st h i c : exec xs st -> counted h i = true -> does program h i c ->
  one * rest h i + sum (map (load g release within top blocks weight one may_meet related (job_number h i))
    (launches xs)) <= one * within (job_number h i).
Proof.
  intros E K D. destruct (fits_at h i K) as (L & U & F & _). destruct (call_is h i c D) as (a & A & _ & _).
  destruct (released_at h i c a D A) as [Ri Wi]. assert (Fi := F). unfold fits_response in Fi.
  rewrite andb_true_iff, Nat.leb_le in Fi. destruct Fi as [_ Fi]. rewrite Wi.
  assert (P : rest h i <= sum (map pause_of (body h))).
  { unfold rest. rewrite <- (firstn_skipn (i mod size h) (body h)) at 2. rewrite map_app, sum_app. lia. }
  eapply Nat.le_trans; [|exact Fi]. apply Nat.add_le_mono; [apply Nat.mul_le_mono_l, P|].
  eapply Nat.le_trans; [|apply (calls_add h (arrivals.released (fst a)))].
  apply sum_within with (t := tag); [apply (tags_once xs st E)|]. intros o Io.
  destruct (launch_is xs st o E Io) as (Lo & (e & _ & Do) & _). destruct (call_is _ _ _ Do) as (b & B & T & _).
  assert (Tl : by_call o < length (tagged (by_host o))) by (apply nth_error_Some; congruence). split.
  { unfold all_calls, tag. apply in_flat_map. exists (by_host o). split; [apply in_seq; lia|].
    apply in_map, in_seq. lia. }
  unfold load. destruct (may_meet (job_number h i) o && (launched_at o <=? by_when (job_number h i))) eqn:M; [|apply Nat.le_0_l].
  rewrite andb_true_iff, Nat.leb_le in M. destruct M as [M La]. unfold may_meet in M.
  rewrite !andb_true_iff, Nat.leb_le in M. destruct M as [[Uo Ko] Me].
  destruct (released_at _ _ _ b Do B) as [Ro Wo].
  assert (Rel : release (job_of o) <= launched_at o).
  { apply (segments.released g program who counted job_number release) with (xs := xs) (st := st); try assumption.
    - intros k j h' i' Ed Kh. left. apply (calls_closed k j h' i' Ed Kh).
    - intros h' i' c' _ Dc Fc. left. apply (calls_start h' i' c' Dc Fc). }
  unfold programs.by_when in La, Me. rewrite Ri, Wi in La. rewrite Ri, Ro, Wo in Me. rewrite Ro in Rel.
  unfold call_adds, tag. simpl. rewrite T. unfold one_adds, counts_in, before, after. simpl.
  unfold related. rewrite Uo. simpl. destruct (Nat.eqb_spec (by_host o) h) as [Eh|Nh].
  - assert (Q : by_call o / size h = i / size h).
    { destruct (Nat.lt_trichotomy (by_call o / size h) (i / size h)) as [Q|[Q|Q]]; [|exact Q|]; rewrite Eh in *.
      - assert (Z := in_order h _ _ b a L F B A Q). lia.
      - assert (Z := in_order h _ _ a b L F A B Q). lia. }
    assert (b = a) by (rewrite Eh, Q in B; congruence). subst b. rewrite !Nat.add_0_r, !Nat.leb_refl.
    assert (J : job_of o = job_number h i) by (unfold job_number; rewrite Eh, Q; reflexivity).
    rewrite J, Nat.eqb_refl. apply le_n.
  - assert (In_time : arrivals.released (fst b) <= arrivals.released (fst a) + response h) by lia.
    rewrite (proj2 (Nat.leb_le _ _) Me), (proj2 (Nat.leb_le _ _) In_time). simpl.
    assert (Q : job_of o =? job_number h i = false).
    { apply Nat.eqb_neq. intros Q. apply Nh. rewrite <- (proj1 (number_is _ (by_call o) Lo)), Q. apply (number_is h i L). }
    rewrite Q. apply le_n.
Qed.

Theorem hosts_in_time xs st : exec xs st ->
  (forall s o, steps g (empty g) xs s -> is_left s o -> upper o = true -> now s <= by_when (job_of o)) /\
  (forall h c, counted h (done st h) = true -> does program h (done st h) c ->
    clock xs <= by_when (job_number h (done st h))).
Proof.
  apply (waiting_hosts_hold g program who counted job_number release within top blocks weight one) with (rest := rest)
    (rank := fun _ i => i) (may_meet := may_meet) (related := related).
  - unfold enough_weight in Weighty. rewrite !andb_true_iff, Nat.ltb_lt in Weighty. apply Weighty.
  - intros h i K. unfold counted in K. rewrite !andb_true_iff, !Nat.ltb_lt in K. destruct K as [_ K].
    destruct (nth_error (program h) i) as [c|] eqn:D; [|apply nth_error_None in D; lia]. apply (pauses_are h i c D).
  - intros k j h i Ed K J. destruct (edge_of_calls k j h i Ed K) as [-> ->].
    assert (Kc := K). unfold counted in Kc. rewrite !andb_true_iff, !Nat.ltb_lt in Kc. destruct Kc as [_ Kc].
    destruct (nth_error (program h) (S j)) as [c|] eqn:D; [|apply nth_error_None in D; lia].
    assert (Q := one_call_later j (length (body h))). change (S (length (body h))) with (size h) in Q.
    destruct (pauses_are h (S j) c D) as [_ P]. replace (S j - 1) with j in P by lia.
    destruct (S j mod size h) as [|m]; [|apply P; lia]. exfalso. unfold job_number in J.
    destruct Q as [Q _]. rewrite Q in J. destruct (fits_at h (S j) K) as [L _]. nia.
  - intros h i r K D. destruct (call_is h i _ D) as (a & A & _ & C). destruct (released_at h i _ a D A) as [Rl _].
    rewrite Rl. destruct (i mod size h) as [|m]; [injection C as ->; lia|]. destruct C as (d & I & N).
    destruct (fits_at h i K) as (_ & _ & _ & W). specialize (W d (nth_error_In _ _ I)). simpl in N. subst d. discriminate W.
  - intros k j h i Ed K. destruct (edge_of_calls k j h i Ed K) as [-> ->]. lia.
  - intros k j h i Ed K. left. apply (calls_closed k j h i Ed K).
  - intros h i c _ D F. left. apply (calls_start h i c D F).
  - intros k j h i Ed K N. left. destruct (edge_of_calls k j h i Ed K) as [-> ->].
    destruct (earlier_job h j (S j) K ltac:(lia)) as [Q|Q]; [congruence|lia].
  - intros ys s' j zs more s p E Ex H Lp Up _ Le. unfold may_meet. rewrite Up. simpl.
    destruct (left_is_launched g zs s p H Lp) as [Ip _].
    assert (I : In p (launches ys)) by (rewrite Ex, launches_app, in_app_iff; tauto).
    rewrite <- (upper_is_counted ys s' p E I), Up. apply Nat.leb_le, Le.
  - intros j o R. unfold related in R. apply andb_true_iff in R. apply R.
  - intros o U. unfold related. rewrite U, Nat.eqb_refl. reflexivity.
  - intros j o p R M Ed. unfold related in *. unfold may_meet in M. rewrite !andb_true_iff, Nat.leb_le in M.
    destruct M as [[Up Kp] Le]. rewrite Up. simpl. rewrite andb_true_iff, Nat.eqb_eq in R. destruct R as [_ <-].
    destruct (edge_of_ends _ _ _ _ Ed) as (Eh & Lt & Li & Lh). rewrite Eh in *.
    assert (Ko : counted (by_host o) (by_call o) = true).
    { unfold counted in *. rewrite !andb_true_iff in *. split; [apply Kp|apply Nat.ltb_lt, Li]. }
    destruct (earlier_job _ _ _ Ko Lt) as [Q|Q]; [apply Nat.eqb_eq, Q|lia].
  - intros p h i Ed K. destruct (edge_of_wait _ _ _ _ Ed K) as (Eh & Lt & _). rewrite Eh.
    split; [apply (counted_earlier h _ i K Lt)|]. destruct (earlier_job h _ i K Lt) as [Q|Q]; [|right; left; lia].
    destruct (upper p) eqn:Up; [left|right; right]; unfold related, may_meet; rewrite Up, Eh; [|reflexivity].
    apply Nat.eqb_eq, Q.
  - apply asked_so.
  - intros ys s h i c E K D. apply (fits_so ys s h i c E K D).
Qed.
Lemma length_tagged h : h < length tasks -> length (tagged h) = length (jobs h) * size h.
Proof.
  intros L. unfold tagged. assert (Len := fun a => length_of h a L). revert Len. generalize (jobs h). intros l Len.
  induction l as [|a l IH]; [reflexivity|]. cbn [flat_map length Nat.mul]. rewrite app_length, IH, map_length, (Len a (or_introl eq_refl)).
  - reflexivity.
  - intros b I. apply (Len b (or_intror I)).
Qed.
Lemma earlier_arrives h k m a b : h < length tasks -> nth_error (jobs h) k = Some a -> nth_error (jobs h) m = Some b ->
  k <= m -> arrives (fst a) <= arrives (fst b).
Proof.
  intros L A B Le. destruct (Nat.eq_dec k m) as [->|N]; [rewrite A in B; injection B as ->; apply le_n|].
  destruct (So h L) as [P _]. assert (Q := pairs_nth _ _ P k m (fst a) (fst b)). rewrite !nth_error_map, A, B in Q.
  specialize (Q eq_refl eq_refl ltac:(lia)). simpl in Q. lia.
Qed.
Lemma over_since_arrival xs st : exec xs st -> forall h bound k a, proves_host (h, bound) = true ->
  nth_error (jobs h) k = Some a -> arrives (fst a) + bound < clock xs ->
  (k + 1) * size h <= done st h /\ forall o, left_at g xs o -> by_host o = h -> by_call o / size h <> k.
Proof.
  intros E h bound k a Pr Ka Late. unfold proves_host in Pr. rewrite !andb_true_iff, Nat.ltb_lt, Nat.leb_le in Pr.
  simpl in Pr. destruct Pr as [[L U] Le]. destruct (hosts_in_time xs st E) as [Ops Calls].
  assert (By : forall i c m b, nth_error (program h) i = Some c -> i / size h = m -> m <= k ->
    nth_error (jobs h) m = Some b -> by_when (job_number h i) < clock xs).
  { intros i c m b D Q Lm B. subst m. unfold programs.by_when. destruct (released_at h i c b D B) as [-> ->].
    assert (X := earlier_arrives h _ k b a L B Ka Lm). destruct (So h L) as [_ R].
    destruct (R b (nth_error_In _ _ B)) as (_ & Y & _). lia. }
  split.
  - apply Nat.nlt_ge. intros Lt. assert (Kl : k < length (jobs h)) by (apply nth_error_Some; congruence).
    assert (Len := length_tagged h L). destruct (nth_error (program h) (done st h)) as [c|] eqn:D.
    2: { apply nth_error_None in D. unfold program in D. rewrite (proj2 (Nat.ltb_lt _ _) L), map_length, Len in D. nia. }
    destruct (call_is h _ c D) as (b & B & _). assert (Q : done st h / size h <= k).
    { enough (done st h / size h < k + 1) by lia. apply Nat.div_lt_upper_bound; [discriminate|lia]. }
    assert (X := Calls h c (is_counted h _ c D U) D). assert (Y := By _ c _ b D eq_refl Q B). lia.
  - intros o (s & St & Lo) Oh Q. destruct (left_is_launched g xs s o St Lo) as [Io _].
    destruct (launch_is xs st o E Io) as (_ & (e & _ & D) & _). assert (Uo := upper_is_counted xs st o E Io).
    rewrite Oh in *. rewrite (is_counted h _ _ D U) in Uo. assert (X := Ops s o St Lo Uo). rewrite Oh in X.
    assert (N := now_is_clock g xs s St). assert (Y := By _ _ k a D Q (le_n _) Ka). lia.
Qed.
End Phased.

(* In every run in which jobs of hosts arrive and are released so, sleep or work no longer than stated, and go on as soon
   as what they wait for is over, each job of a host that is claimed is over, with its last call, once the time that is
   claimed has passed since it arrived. *)
Theorem accepted_phased_hold : forall g top tasks scale weights responses claims,
  accept_phased g top tasks scale weights responses claims = true ->
  forall jobs, (forall h, h < length tasks -> come_so tasks jobs h) ->
  forall who xs st, exec g (program tasks jobs) who xs st ->
  forall h bound k a, In (h, bound) claims -> nth_error (jobs h) k = Some a -> arrives (fst a) + bound < clock xs ->
  (k + 1) * size tasks h <= done st h /\
  forall o, left_at g xs o -> by_host who o = h -> by_call who o / size tasks h <> k.
Proof.
  intros g top tasks scale weights responses claims H jobs So who xs st E h bound k a Ic.
  unfold accept_phased in H. rewrite !andb_true_iff in H. destruct H as [[[Cl En] Ac] Pr]. rewrite forallb_forall in Pr.
  apply (over_since_arrival g top tasks scale weights responses jobs So who Cl En Ac xs st E h bound k a (Pr _ Ic)).
Qed.
