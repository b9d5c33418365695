(* All orders in which kernels can be dispatched, that is, all their blocks assigned: if of each order that is not
  shown
   to be impossible some state of the exploration holds, its bounds hold in every run: docs/analysis.md, section 4. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial closed busy next entries.

(* How many blocks of an operation run; and how many of some instants are later than [u]. *)
Definition on_sms (m : nat) (l : list run) : nat := length (filter (fun r => is_block r && (number (of r) =? m)) l).
Definition later (u : nat) (l : list nat) : nat := length (filter (fun e => u <? e) l).

(* What is known of all runs in which certain kernels are dispatched and no others are. *)
Record abstract := Abstract {
  done : list nat;  (* their numbers *)
  from : nat; by_then : nat;  (* the last of them was dispatched not before, and not after *)
  runs : nat -> list nat;  (* until when each block of one of them may run, if it does after [by_then] *)
  over_from : nat -> nat; over_by : nat -> nat;  (* between when and when each of them is over *)
  (* By level: a kernel of it that is not dispatched had begun no block after this when the last one was dispatched.
  *)
  begun : nat -> option nat;
  (* What is computed of it. By level: by when a kernel of it or of a higher one has entered, if none is dispatched.
  *)
  entered : nat -> nat;
  starts : nat -> list nat;  (* by when each block of a kernel is assigned if it is the next *)
  some_by : nat  (* by when some kernel is dispatched *)
}.

Section Explored.
Variables (g : device) (all : list operation).
Hypothesis K : kernels all.
Local Notation level_of o := (level_of g 0 (stream o)).
Local Notation waits_for := (waits_for g).
Local Notation inv := (inv g all).

Definition blocks_of (o : operation) : nat := match what o with Kernel n _ _ => n | _ => 0 end.
Definition best_of (o : operation) : nat := match what o with Kernel _ _ lasts => best lasts | _ => 0 end.

(* The next kernel waits for dispatched ones only; it enters its queue between these. *)
Definition eligible (A : abstract) (o : operation) : Prop :=
  In o all /\ ~ In (number o) (done A) /\
  forall p, In p all -> waits_for o p = true -> In (number p) (done A).
Definition latest_of (f : nat -> nat) (o : operation) : nat :=
  fold_right (fun p m => Nat.max (f (number p)) m) (launched_at o) (filter (waits_for o) all).
Definition earliest (A : abstract) : operation -> nat := latest_of (over_from A).
Definition latest (A : abstract) : operation -> nat := latest_of (over_by A).
(* All that it waits for is over before it is launched: so it enters its queue before anything begins at that
  instant. *)
Definition prompt (A : abstract) (o : operation) : bool :=
  forallb (fun p => over_by A (number p) <? launched_at o) (filter (waits_for o) all).
(* [i] may enter a queue before [x]: one that is launched later, or that waits for one launched as late, does not. *)
Definition may_precede (A : abstract) (i x : operation) : Prop :=
  earliest A i <= latest A x /\
  (prompt A x = true -> number i < number x /\
    forall p, In p all -> waits_for i p = true -> launched_at p < launched_at x).
(* It may enter before all others of its level, and by [entered]. *)
Definition may_be_next (A : abstract) (i : operation) : Prop :=
  eligible A i /\ earliest A i <= entered A (level_of i) /\
  forall x, eligible A x -> level_of x = level_of i -> x <> i -> may_precede A i x.

(* While [i] is at the head, no kernel of level [l], below it, begins a block after this. *)
Definition last_begun (A : abstract) (i : operation) (l : nat) : option nat :=
  let e := entered A (level_of i) in
  if (e <? from A) || (e =? from A) && prompt A i then begun A l
  else let z := if prompt A i then e - 1 else e in
  Some (match begun A l with Some b => Nat.max b z | None => z end).
Definition start_of (A : abstract) (i : operation) (m : nat) : nat := nth m (starts A (number i)) 0.
Definition ends_of (A : abstract) (i : operation) : list nat := map (fun u => u + worst_of i) (starts A (number i)).
(* What may run when the block of [i] after the first [m] has its bound: so many blocks of each kernel. *)
Record may_run (A : abstract) (i : operation) (m : nat) (l : list run) : Prop := {
  may_own : on_sms (number i) l <= later (start_of A i m) (firstn m (ends_of A i));
  may_done : forall k, In k (done A) -> on_sms k l <= later (start_of A i m) (runs A k);
  may_lower : forall r, In r l -> ~ In (number (of r)) (done A) -> of r <> i ->
    eligible A (of r) /\ level_of i < level_of (of r) /\ on_sms (number (of r)) l < blocks_of (of r) /\
    exists z, last_begun A i (level_of (of r)) = Some z /\ earliest A (of r) <= z /\
      start_of A i m < z + worst_of (of r)
}.
(* However it is spread over the SMs, it leaves room for a block of [i] on one that this may use. *)
Definition leaves_room (A : abstract) (i : operation) (m : nat) : Prop :=
  forall before s, inv before s -> may_run A i m (running s) ->
  exists sm room, may_use g i sm /\ R1 s (need_of i) sm room.

(* The instants are those of the lemma: no block is kept from its SM at its own. *)
Record bounds_starts (A : abstract) (i : operation) : Prop := {
  starts_all : length (starts A (number i)) = blocks_of i;
  starts_after : forall m, m < blocks_of i ->
    by_then A <= start_of A i m /\ entered A (level_of i) <= start_of A i m;
  starts_order : forall m, S m < blocks_of i -> start_of A i m <= start_of A i (S m);
  starts_room : forall m, m < blocks_of i -> leaves_room A i m
}.
Definition dispatched_by (A : abstract) (i : operation) : nat := start_of A i (blocks_of i - 1).
Definition bounds_entry (A : abstract) (l : nat) : Prop :=
  (exists x, eligible A x /\ level_of x = l /\ latest A x <= entered A l) \/
  (exists y, eligible A y /\ l < level_of y) /\ by_then A <= entered A l /\ entered A (S l) <= entered A l /\
  forall j, may_be_next A j -> level_of j = S l -> dispatched_by A j <= entered A l.
Record computed (A : abstract) : Prop := {
  computed_starts : forall i, may_be_next A i -> bounds_starts A i;
  computed_entry : forall l, (exists y, eligible A y /\ l <= level_of y) -> bounds_entry A l;
  computed_some : (exists y, eligible A y) -> entered A 0 <= some_by A /\
    forall j, may_be_next A j -> level_of j = 0 -> dispatched_by A j <= some_by A
}.

(* [i] may be dispatched at [t], the next after those of [A]: otherwise no run has this order. *)
Record possible (A : abstract) (i : operation) (t : nat) : Prop := {
  possible_next : may_be_next A i;
  possible_from : from A <= t;
  possible_entry : earliest A i <= t;
  possible_by : t <= dispatched_by A i;
  possible_some : t <= some_by A;
  possible_higher : forall x, eligible A x -> level_of x < level_of i ->
    t <= latest A x /\ (prompt A x = true -> t < launched_at x)
}.
(* What [B] says holds then; it may hold of other runs, too, and so be merged of several. *)
Record follows (A : abstract) (i : operation) (t : nat) (B : abstract) : Prop := {
  follows_done : forall k, In k (done B) <-> k = number i \/ In k (done A);
  follows_from : from B <= t;
  follows_by : t <= by_then B /\ by_then A <= by_then B;
  follows_runs : forall k u, In k (done A) -> by_then B <= u -> later u (runs A k) <= later u (runs B k);
  follows_own : forall u, by_then B <= u < t + worst_of i -> later u (ends_of A i) <= later u (runs B (number i));
  follows_over : forall k, In k (done A) -> over_from B k <= over_from A k /\ over_by A k <= over_by B k;
  follows_over_own : over_from B (number i) <= t + best_of i /\ t + worst_of i <= over_by B (number i);
  follows_begun : forall l z, level_of i < l -> last_begun A i l = Some z ->
    exists z', begun B l = Some z' /\ z <= z'
}.
(* What a state of the exploration says of a state of a run. *)
Record holds (A : abstract) (before : list operation) (s : state) : Prop := {
  holds_done : forall o, In o all -> In (number o) (done A) ->
    number o < launched s /\ ~ in_ee s o /\ (pending s o -> at_head s o);
  holds_open : forall o, In o before -> ~ In (number o) (done A) -> pending s o /\ (at_head s o -> in_ee s o);
  holds_from : from A <= now s;
  holds_over_by : forall r, In r (running s) -> In (number (of r)) (done A) -> ends r <= over_by A (number (of r));
  holds_over_from : forall o, In o all -> In (number o) (done A) -> over_from A (number o) <= now s \/
    exists r, In r (running s) /\ of r = o /\ over_from A (number o) <= ends r;
  holds_runs : forall k u, In k (done A) -> by_then A <= u -> late k u (running s) <= later u (runs A k);
  holds_entered : forall x, eligible A x -> latest A x < now s -> in_ee s x;
  holds_queue : forall l k a i b x c, nth_error (ee s) l = Some k -> map fst k = a ++ i :: b ++ x :: c ->
    may_precede A i x;
  (* What enters by its launch has done so before anything begins then. *)
  holds_prompt : forall x, eligible A x -> prompt A x = true -> ~ in_ee s x ->
    (forall p, In p all -> In (number p) (done A) -> launched_at p < launched_at x) /\
    (In x before -> S (number x) = launched s) /\
    (launched_at x <= now s -> running s = [] \/ from A < now s /\ forall r, In r (running s) ->
      ends r < now s + worst_of (of r) /\ (~ In (number (of r)) (done A) -> earliest A (of r) < now s));
  holds_itself : forall l k o n, nth_error (ee s) l = Some k -> In (o, n) k -> earliest A o <= latest A o;
  holds_once : forall l k, nth_error (ee s) l = Some k -> NoDup (map fst k);
  holds_count : forall l k o n, nth_error (ee s) l = Some k -> In (o, n) k ->
    0 < n /\ on_sms (number o) (running s) + n <= blocks_of o;
  holds_behind : forall l y k o n, nth_error (ee s) l = Some (y :: k) -> In (o, n) k ->
    on_sms (number o) (running s) = 0;
  holds_head : forall l o n rest, next_kernel s l o n rest -> may_be_next A o /\
    exists m, m + n = blocks_of o /\ now s <= start_of A o m /\
      forall u, late (number o) u (running s) <= later u (firstn m (ends_of A o));
  holds_lower : forall l o n rest r, next_kernel s l o n rest -> In r (running s) -> ~ In (number (of r)) (done A) ->
    of r <> o -> l < level_of (of r) /\ exists z, last_begun A o (level_of (of r)) = Some z /\
      earliest A (of r) <= z /\ ends r <= z + worst_of (of r)
}.

Arguments starts_all {A i}.
Arguments starts_after {A i}.
Arguments starts_order {A i}.
Arguments starts_room {A i}.
Arguments computed_starts {A}.
Arguments computed_entry {A}.
Arguments computed_some {A}.
Arguments possible_next {A i t}.
Arguments holds_done {A before s}.
Arguments holds_open {A before s}.
Arguments holds_from {A before s}.
Arguments holds_over_by {A before s}.
Arguments holds_over_from {A before s}.
Arguments holds_runs {A before s}.
Arguments holds_entered {A before s}.
Arguments holds_queue {A before s}.
Arguments holds_prompt {A before s}.
Arguments holds_itself {A before s}.
Arguments holds_once {A before s}.
Arguments holds_count {A before s}.
Arguments holds_behind {A before s}.
Arguments holds_head {A before s}.
Arguments holds_lower {A before s}.

Lemma latest_of_le f o t : latest_of f o <= t <->
  launched_at o <= t /\ forall p, In p all -> waits_for o p = true -> f (number p) <= t.
Proof.
  clear K. unfold latest_of. assert (G : forall l, fold_right (fun p m => Nat.max (f (number p)) m) (launched_at o) l
    <= t <->
    launched_at o <= t /\ forall p, In p l -> f (number p) <= t).
  { induction l as [|p l IH]; simpl; [firstorder|]. rewrite Nat.max_lub_iff, IH. split.
    - intros (A & B & C). split; [exact B|]. intros q [<-|I]; [exact A|apply C, I].
    - intros [B C]. split; [apply C; left; reflexivity|]. split; [exact B|]. intros q I. apply C. right. exact I. }
  rewrite G. split; intros [A B]; (split; [exact A|]).
  - intros p I W. apply B, filter_In. tauto.
  - intros p I. apply filter_In in I. apply B; tauto.
Qed.
Lemma latest_of_more f h o : (forall p, In p all -> waits_for o p = true -> f (number p) <= h (number p)) ->
  latest_of f o <= latest_of h o.
Proof.
  intros L. apply latest_of_le. destruct (proj1 (latest_of_le h o _) (le_n _)) as [A B]. split; [exact A|].
  intros p I W. eapply Nat.le_trans; [apply (L p I W)|apply (B p I W)].
Qed.

Lemma late_on_sms k u l : late k u l <= on_sms k l.
Proof.
  unfold late, on_sms. induction l as [|r l IH]; simpl; [lia|].
  destruct (is_block r && (number (of r) =? k)); simpl; [destruct (u <? ends r); simpl; lia|exact IH].
Qed.
Lemma late_all k u l : (forall r, In r l -> u < ends r) -> late k u l = on_sms k l.
Proof.
  unfold late, on_sms. induction l as [|r l IH]; intros H; simpl; [reflexivity|].
  specialize (IH (fun x I => H x (or_intror I))). specialize (H r (or_introl eq_refl)). apply Nat.ltb_lt in H.
  rewrite H, andb_true_r. destruct (is_block r && (number (of r) =? k)); simpl; congruence.
Qed.
Lemma late_zero k u l : (forall r, In r l -> number (of r) = k -> ends r <= u) -> late k u l = 0.
Proof.
  unfold late. induction l as [|r l IH]; intros H; simpl; [reflexivity|].
  specialize (IH (fun x I => H x (or_intror I))). specialize (H r (or_introl eq_refl)).
  destruct (Nat.eqb_spec (number (of r)) k) as [Z|_]; [|rewrite andb_false_r; exact IH].
  destruct (Nat.ltb_spec u (ends r)); [specialize (H Z); lia|]. rewrite andb_false_r. exact IH.
Qed.
Lemma on_sms_app k l m : on_sms k (l ++ m) = on_sms k l + on_sms k m.
Proof. unfold on_sms. rewrite filter_app, app_length. reflexivity. Qed.
Lemma on_sms_none k l : (forall r, In r l -> number (of r) <> k) -> on_sms k l = 0.
Proof.
  intros H. unfold on_sms. induction l as [|r l IH]; simpl; [reflexivity|].
  specialize (IH (fun x I => H x (or_intror I))). specialize (H r (or_introl eq_refl)). apply Nat.eqb_neq in H.
  rewrite H, andb_false_r. exact IH.
Qed.
Lemma later_all u l : (forall e, In e l -> u < e) -> later u l = length l.
Proof.
  unfold later. induction l as [|e l IH]; intros H; simpl; [reflexivity|].
  rewrite (proj2 (Nat.ltb_lt _ _) (H e (or_introl eq_refl))). simpl. rewrite IH; [reflexivity|].
  intros x I. apply H. right. exact I.
Qed.
Lemma later_app u l m : later u (l ++ m) = later u l + later u m.
Proof. unfold later. rewrite filter_app, app_length. reflexivity. Qed.
Lemma later_firstn u m l : later u (firstn m l) <= later u l.
Proof. rewrite <- (firstn_skipn m l) at 2. rewrite later_app. lia. Qed.
Lemma firstn_one {A} (d : A) m l : m < length l -> firstn (S m) l = firstn m l ++ [nth m l d].
Proof.
  revert l. induction m as [|m IH]; intros [|x l] L; simpl in *; try lia; [reflexivity|]. rewrite <- IH by lia.
  reflexivity.
Qed.
Lemma ends_nth A i m : m < length (starts A (number i)) -> nth m (ends_of A i) 0 = start_of A i m + worst_of i.
Proof.
  intros L. unfold ends_of, start_of. rewrite nth_indep with (d' := (fun u => u + worst_of i) 0);
    [apply (map_nth (fun u => u + worst_of i))|rewrite map_length; exact L].
Qed.

Lemma starts_sorted A i m n : bounds_starts A i -> m <= n < blocks_of i -> start_of A i m <= start_of A i n.
Proof.
  intros B [L M]. induction L as [|n L IH]; [apply le_n|]. assert (X := starts_order B n M). lia.
Qed.

(* The states, and those from which nothing is explored. *)
Variables explored given_up : abstract -> Prop.
Record exploration : Prop := {
  explored_start : exists A, explored A /\ done A = [] /\ from A = 0;
  explored_computed : forall A, explored A -> computed A;
  explored_next : forall A i t, explored A -> possible A i t ->
    given_up A \/ exists B, explored B /\ follows A i t B
}.
Hypothesis E : exploration.

Section State.
Variables (A : abstract) (before : list operation) (s : state).
Hypotheses (X : explored A) (V : inv before s) (H : holds A before s).

Lemma same_number o r : In o all -> In r (running s) -> number (of r) = number o -> of r = o.
Proof.
  intros I J N. destruct (run_facts g all K _ _ r V J) as (_ & M & _). apply (kernels_apart all K); assumption.
Qed.
(* A dispatched kernel that is pending runs. *)
Lemma done_runs o : In o all -> In (number o) (done A) -> pending s o -> exists r, In r (running s) /\ of r = o.
Proof.
  intros I D P. destruct (holds_done H o I D) as (_ & N & Hd). apply (gone_runs g all K before s o V I (Hd P) N).
Qed.
(* What has gone on has entered, and all it waits for is dispatched, and over. *)
Lemma head_waits o p : at_head s o -> In o all -> In p all -> waits_for o p = true ->
  In (number p) (done A) /\ over_from A (number p) <= now s.
Proof.
  intros Ho Io Ip W. assert (N := inv_free _ _ _ _ V o p Ho Ip W).
  assert (L : number p < launched s).
  { unfold entries.waits_for in W. apply andb_true_iff in W. destruct W as [W _]. apply Nat.ltb_lt in W.
    destruct Ho as [rest F].
    assert (Y := order_launched g s (sound_order _ _ _ _ (inv_sound _ _ _ _ V)) _ _ o F (or_introl eq_refl)). lia. }
  assert (B := earlier_is_launched g all K _ _ p V Ip L).
  destruct (in_dec Nat.eq_dec (number p) (done A)) as [D|D].
  - split; [exact D|]. destruct (holds_over_from H p Ip D) as [Z|(r & I & <- & _)]; [exact Z|]. exfalso.
    apply N, pending_head. apply (run_facts g all K _ _ r V I).
  - exfalso. apply N. apply (holds_open H p B D).
Qed.
Lemma head_early o : at_head s o -> In o all -> earliest A o <= now s.
Proof.
  intros Ho Io. apply latest_of_le. split.
  - apply (sound_past _ _ _ _ (inv_sound _ _ _ _ V)). apply (earlier_is_launched g all K _ _ o V Io).
    destruct Ho as [rest F]. apply (order_launched g s (sound_order _ _ _ _ (inv_sound _ _ _ _ V)) _ _ o F).
    left. reflexivity.
  - intros p Ip W. apply (head_waits o p Ho Io Ip W).
Qed.
Lemma ee_eligible l k o n : nth_error (ee s) l = Some k -> In (o, n) k -> eligible A o.
Proof.
  intros F I. destruct (ee_facts g all _ _ _ _ _ _ V F I) as (Ho & _ & Io & _). split; [exact Io|]. split.
  - intros D. destruct (holds_done H o Io D) as (_ & N & _). apply N. exists l, k, n. tauto.
  - intros p Ip W. apply (head_waits o p Ho Io Ip W).
Qed.
Lemma not_entered x : eligible A x -> ~ in_ee s x -> now s <= latest A x.
Proof.
  intros El N. destruct (Nat.le_gt_cases (now s) (latest A x)) as [L|L]; [exact L|].
  destruct (N (holds_entered H x El L)).
Qed.
(* What enters by its launch is in its queue once all has gone on that may. *)
Lemma prompt_entered x : all_went_on g s -> eligible A x -> prompt A x = true -> In x before -> in_ee s x.
Proof.
  intros Went El Pr Bx. assert (S := inv_sound _ _ _ _ V).
  destruct (holds_open H x Bx (proj1 (proj2 El))) as [Px Hx]. apply Hx.
  apply (free_has_gone_on g all K s x (sound_kept _ _ _ _ S) (sound_order _ _ _ _ S) (sound_all _ _ _ _ S) Went
    (proj1 El) Px).
  intros p Ip Wp Pp. assert (D := proj2 (proj2 El) p Ip Wp). destruct (done_runs p Ip D Pp) as (r & I & <-).
  assert (Y := holds_over_by H r I D). assert (Al := inv_alive _ _ _ _ V r I).
  assert (La := sound_past _ _ _ _ S x Bx). unfold prompt in Pr. rewrite forallb_forall in Pr.
  specialize (Pr (of r) (proj2 (filter_In _ _ _) (conj Ip Wp))). apply Nat.ltb_lt in Pr. lia.
Qed.
(* Who may be before another in a queue that this is not in yet. *)
Lemma may_precede_new i x : eligible A i -> number i < launched s -> earliest A i <= now s ->
  eligible A x -> ~ in_ee s x -> x <> i -> may_precede A i x.
Proof.
  intros Ei Li Early El N Nx. split; [eapply Nat.le_trans; [exact Early|apply (not_entered x El N)]|].
  intros Pr. destruct (holds_prompt H x El Pr N) as (Lp & Sn & _). split.
  - destruct (Nat.lt_ge_cases (number i) (number x)) as [Y|Y]; [exact Y|exfalso].
    assert (Bx := earlier_is_launched g all K _ _ x V (proj1 El) ltac:(lia)). specialize (Sn Bx).
    apply Nx, (kernels_apart all K); [apply El|apply Ei|lia].
  - intros p Ip Wp. apply (Lp p Ip). apply (proj2 (proj2 Ei) p Ip Wp).
Qed.
Lemma head_by_start l o n rest : next_kernel s l o n rest -> level_of o = l /\ may_be_next A o /\
  now s <= dispatched_by A o.
Proof.
  intros N. destruct (holds_head H l o n rest N) as (M & m & Z & L & _).
  destruct N as [F _]. destruct (ee_facts g all _ _ _ _ _ _ V F (or_introl eq_refl)) as (_ & Lv & _).
  destruct (holds_count H _ _ _ _ F (or_introl eq_refl)) as [P _].
  split; [exact Lv|]. split; [exact M|]. eapply Nat.le_trans; [exact L|]. unfold dispatched_by.
  apply starts_sorted; [apply (computed_starts (explored_computed E A X) o M)|lia].
Qed.
(* After [entered], a kernel of the level or a higher one is in its queue. *)
Lemma has_entered n : forall l, (forall y, In y all -> level_of y < l + n) -> (exists y, eligible A y /\ l <=
  level_of y) ->
  entered A l < now s -> exists h o m rest, h <= l /\ next_kernel s h o m rest.
Proof.
  assert (Some_head : forall l k x, nth_error (ee s) l = Some k -> In x k ->
    exists h o m rest, h <= l /\ next_kernel s h o m rest).
  { clear. unfold next_kernel. induction (ee s) as [|q qs IH]; intros [|l] k x F I; try discriminate F; simpl in F.
    - injection F as ->. destruct k as [|[o m] rest]; [destruct I|]. exists 0, o, m, rest. split; [lia|].
      split; [reflexivity|lia].
    - destruct q as [|[o m] rest].
      + destruct (IH l k x F I) as (h & o & m & rest & L & F' & Z). exists (S h), o, m, rest. split; [lia|].
        split; [exact F'|]. intros [|j] Lj; [reflexivity|apply Z; lia].
      + exists 0, o, m, rest. split; [lia|]. split; [reflexivity|lia]. }
  induction n as [|n IH]; intros l Top Y L.
  - destruct Y as (y & (Iy & _) & Ly). specialize (Top y Iy). lia.
  - destruct (computed_entry (explored_computed E A X) l Y) as [(x & El & Lx & Le)|((y & El & Ly) & Tl & Sl & Cl)].
    + destruct (holds_entered H x El ltac:(lia)) as (l' & k & m & F & I).
      destruct (ee_facts g all _ _ _ _ _ _ V F I) as (_ & Lv & _).
      apply (Some_head l k (x, m)); [congruence|exact I].
    + destruct (IH (S l)) as (h & o & m & rest & Lh & N).
      * intros z Iz. specialize (Top z Iz). lia.
      * exists y. split; [exact El|lia].
      * lia.
      * destruct (Nat.eq_dec h (S l)) as [->|Nh]; [|exists h, o, m, rest; split; [lia|exact N]].
        destruct (head_by_start _ _ _ _ N) as (Lv & M & D). specialize (Cl o M Lv). lia.
Qed.
Lemma not_later l o : eligible A o -> level_of o = l -> (forall h, h <= l -> nth_error (ee s) h = Some []) ->
  now s <= entered A l.
Proof.
  intros El Lv Z. destruct (Nat.le_gt_cases (now s) (entered A l)) as [L|L]; [exact L|]. exfalso.
  destruct (has_entered (S (list_max (map (fun y => level_of y) all))) l) as (h & p & m & rest & Lh & [F _]).
  - intros y I. assert (M := proj1 (list_max_le (map (fun y => level_of y) all) _) (le_n _)).
    rewrite Forall_forall in M. specialize (M _ (in_map _ _ _ I)). simpl in M. lia.
  - exists o. split; [exact El|lia].
  - exact L.
  - rewrite (Z h Lh) in F. discriminate F.
Qed.
End State.
End Explored.

Arguments starts_all {g all A i}.
Arguments starts_after {g all A i}.
Arguments starts_order {g all A i}.
Arguments starts_room {g all A i}.
Arguments computed_starts {g all A}.
Arguments computed_entry {g all A}.
Arguments computed_some {g all A}.
Arguments possible_next {g all A i t}.
Arguments holds_done {g all A before s}.
Arguments holds_open {g all A before s}.
Arguments holds_from {g all A before s}.
Arguments holds_over_by {g all A before s}.
Arguments holds_over_from {g all A before s}.
Arguments holds_runs {g all A before s}.
Arguments holds_entered {g all A before s}.
Arguments holds_queue {g all A before s}.
Arguments holds_prompt {g all A before s}.
Arguments holds_itself {g all A before s}.
Arguments holds_once {g all A before s}.
Arguments holds_count {g all A before s}.
Arguments holds_behind {g all A before s}.
Arguments holds_head {g all A before s}.
Arguments holds_lower {g all A before s}.
Arguments follows_done {g all A i t B}.
Arguments follows_from {g all A i t B}.
Arguments follows_by {g all A i t B}.
Arguments follows_runs {g all A i t B}.
Arguments follows_own {g all A i t B}.
Arguments follows_over {g all A i t B}.
Arguments follows_over_own {g all A i t B}.
Arguments follows_begun {g all A i t B}.
Arguments explored_start {g all explored given_up}.
Arguments explored_computed {g all explored given_up}.
Arguments explored_next {g all explored given_up}.
Ltac what_holds H := destruct H as [h_done h_open h_from h_over_by h_over_from h_runs h_entered h_queue h_prompt
  h_itself
  h_once h_count h_behind h_head h_lower].
