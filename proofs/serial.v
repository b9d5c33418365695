(* All that was launched can be served one after another: no step of the rules delays it beyond that. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model executable follows lists usage merged queues sustainable progress capacity next.

Section Serial.
(* Streams of a level below [top] are looked at; [blocks l] is how long a block of a lower priority than level [l] may
   run. *)
Variables (g : device) (top : nat) (blocks : nat -> nat).

Definition level_of (q : nat) : nat := match nth_error (streams g) q with Some k => level k | None => top end.
Definition upper (o : operation) : bool := level_of (stream o) <? top.
(* How many blocks of one kind the SMs hold, if they are empty, that the mask of a stream leaves it, and how long [n]
   blocks of an operation take at most if they have these alone. *)
Definition leaves (q i : nat) : bool := negb (existsb (Nat.eqb i) (nth q (masks g) [])).
Fixpoint capacity_from (q : nat) (need : resources) (i : nat) (caps : list resources) : nat :=
  match caps with
  | [] => 0
  | cap :: rest => (if leaves q i then held need cap else 0) + capacity_from q need (S i) rest
  end.
Definition capacity (o : operation) : nat := capacity_from (stream o) (need_of o) 0 (sms g).
Definition waves (n : nat) (o : operation) : nat := ceil n (capacity o) * worst_of o.
(* What an operation adds. *)
Definition full (o : operation) : nat :=
  match what o with Kernel n _ _ => blocks (level_of (stream o)) + waves n o | _ => worst_of o end.

(* What is asked of everything that is launched. *)
Record allowed (o : operation) : Prop := {
  allowed_runs : can_run g o;
  allowed_kernel : forall n need lasts, what o = Kernel n need lasts ->
    0 < slots need /\ 0 < capacity o /\ forall l, l < level_of (stream o) -> worst lasts <= blocks l
}.
Variable P : operation -> Prop.
Record closed : Prop := {
  closed_allowed : forall o, P o -> allowed o;
  closed_null : forall o p, P o -> P p -> upper o = true ->
    (stream o = 0 /\ is_blocking g (stream p) \/ stream o <> 0 /\ is_blocking g (stream o) /\ stream p = 0) ->
    upper p = true;
  closed_wait : forall o p r, P o -> P p -> upper o = true -> what o = Wait (Some r) -> upper p = true;
  closed_engine : forall o p e l m, P o -> P p -> upper o = true -> what o = Copy e l -> what p = Copy e m ->
    upper p = true
}.
Hypothesis C : closed.
Local Notation kept := (queues.kept g).

Lemma kept_ee s : kept s -> forall l k x, nth_error (ee s) l = Some k -> In x k ->
  at_head s (fst x) /\ level_of (stream (fst x)) = l /\ exists n need lasts, what (fst x) = Kernel n need lasts.
Proof.
  intros K l k x E I. destruct (queues.kept_ee g s K l k x E I) as (A & (j & F & Z) & W). split; [exact A|].
  split; [|exact W]. unfold level_of. rewrite F. exact Z.
Qed.

Definition only_lower (s : state) : Prop := everywhere (fun o => upper o = false) s.

(* Where nothing of the upper streams runs or is in an EE or CE queue, none of them has anything left. *)
Lemma nothing_left s : kept s -> in_order g s -> everywhere P s -> all_went_on g s ->
  (forall r, In r (running s) -> upper (of r) = false) ->
  (forall l k x, nth_error (ee s) l = Some k -> In x k -> upper (fst x) = false) ->
  (forall e k o, nth_error (ce s) e = Some k -> In o k -> upper o = false) -> only_lower s.
Proof.
  intros K O A W R E CE.
  assert (Same : forall q k o p, nth_error (queues s) q = Some k -> In o (waiting k) -> at_head s p ->
    number p = number o -> upper p = false -> upper o = false).
  { intros q k o p F I [rest H] N U. assert (S := kept_queue K q k o F I).
    assert (Z := order_apart g s O _ _ _ _ _ _ H (or_introl eq_refl) F I N).
    unfold upper in *. rewrite S, <- Z. exact U. }
  split; try assumption.
  assert (Empty : forall m q k o, nth_error (queues s) q = Some k -> In o (waiting k) -> number o = m ->
    upper o = true -> False).
  { induction m as [m IH] using (well_founded_induction lt_wf). intros q k o F I M U.
    destruct k as [b [|h rest]]; [destruct I|]. simpl in I.
    assert (Uh : upper h = true).
    { assert (Sh := kept_queue K q _ h F (or_introl eq_refl)). assert (So := kept_queue K q _ o F I).
      unfold upper in *. rewrite Sh, <- So. exact U. }
    assert (Ph := everywhere_queues _ s A q _ h F (or_introl eq_refl)).
    destruct I as [<-|I].
    - clear U. destruct b.
      + destruct (order_somewhere g s O q h rest F) as [(r & J & N)|[(l & k & x & G & J & N)|(e & k & p & G & J & N)]].
        * assert (X := Same _ _ h (of r) F (or_introl eq_refl) (kept_running K r J) N (R r J)). congruence.
        * assert (X := Same _ _ h (fst x) F (or_introl eq_refl) (proj1 (kept_ee s K l k x G J)) N (E l k x G J)).
          congruence.
        * assert (X := Same _ _ h p F (or_introl eq_refl) (proj1 (kept_ce K e k p G J)) N (CE e k p G J)).
          congruence.
      + assert (Sh := kept_queue K q _ h F (or_introl eq_refl)).
        assert (Later : forall other h' b' rest', nth_error (queues s) other = Some (Queue b' (h' :: rest')) ->
          other <> q -> upper h' = true -> number h < number h').
        { intros other h' b' rest' F' N U'. destruct (Nat.lt_trichotomy (number h) (number h')) as [X|[X|X]].
          - exact X.
          - exfalso. apply N. symmetry. eapply (order_apart g s O); [exact F|left; reflexivity|exact F'|left;
            reflexivity|exact X].
          - exfalso. rewrite M in X. eapply (IH _ X other _ h' F'); [left; reflexivity|reflexivity|exact U']. }
        assert (Ready : ready g s q h rest); [|exact (W q h rest Ready)].
        split; [exact F|]. split; [|split].
        * intros Z other N Bl h' (b' & rest' & F'). apply (Later _ _ _ _ F'); [congruence|].
          assert (P' := everywhere_queues _ s A other _ h' F' (or_introl eq_refl)).
          apply (closed_null C h h' Ph P' Uh). left. split; [congruence|].
          rewrite (kept_queue K other _ h' F' (or_introl eq_refl)). exact Bl.
        * intros Z Bl h' (b' & rest' & F'). apply (Later _ _ _ _ F'); [congruence|].
          assert (P' := everywhere_queues _ s A 0 _ h' F' (or_introl eq_refl)).
          apply (closed_null C h h' Ph P' Uh). right. rewrite Sh. split; [exact Z|]. split; [exact Bl|].
          apply (kept_queue K 0 _ h' F' (or_introl eq_refl)).
        * intros r Wr q' k' p F' J X. assert (Cr := allowed_runs _ (closed_allowed C h Ph)). unfold can_run in Cr.
          rewrite Wr in Cr. rewrite M in Cr. apply (IH r Cr q' k' p F' J X).
          apply (closed_wait C h p r Ph (everywhere_queues _ s A q' k' p F' J) Uh Wr).
    - assert (X := proj1 (order_ascending g s O q _ F) o I). rewrite M in X.
      eapply (IH _ X q _ h F); [left; reflexivity|reflexivity|exact Uh]. }
  intros q k o F I. destruct (upper o) eqn:U; [|reflexivity]. destruct (Empty (number o) q k o F I eq_refl U).
Qed.

(* What is still to begin. *)
Definition of_upper (f : operation -> nat) (o : operation) : nat := if upper o then f o else 0.
Definition in_queue (k : stream_queue) : nat :=
  sum (map (of_upper full) (if gone_on k then tl (waiting k) else waiting k)).
Definition in_ee (k : list (operation * nat)) : nat :=
  sum (map (fun x => of_upper (waves (snd x)) (fst x)) k).
Definition in_ce (k : list operation) : nat := sum (map (of_upper worst_of) k).
Definition to_begin (s : state) : nat :=
  sum (map in_queue (queues s)) + sum (map in_ee (ee s)) + sum (map in_ce (ce s)).

(* By [X] all has ended that runs, but for blocks of the head, which takes [e] longer for those that end later. *)
Record fine (s : state) (X e : nat) : Prop := {
  fine_now : now s <= X;
  fine_upper : forall r, In r (running s) -> upper (of r) = true ->
    ends r <= X \/ exists l n rest, next_kernel s l (of r) n rest /\ ends r <= X + worst_of (of r);
  fine_lower : forall r l o n rest, In r (running s) -> upper (of r) = false -> is_block r = true ->
    next_kernel s l o n rest -> upper o = true -> ends r <= X;
  fine_head : forall l o n rest, next_kernel s l o n rest -> upper o = true ->
    waves (n + late (number o) X (running s)) o <= e + waves n o
}.
Definition over_at (s : state) (D : nat) : Prop :=
  only_lower s \/ exists X e, fine s X e /\ X + e + to_begin s <= D.

Lemma nothing_to_begin s : only_lower s -> to_begin s = 0.
Proof.
  intros [Q E CE _]. unfold to_begin. rewrite !sum_none; [reflexivity| | |].
  - intros k I. apply In_nth_error in I. destruct I as [e F]. apply sum_none. intros o J. unfold of_upper.
    rewrite (CE e k o F J). reflexivity.
  - intros k I. apply In_nth_error in I. destruct I as [l F]. apply sum_none. intros x J. unfold of_upper.
    rewrite (E l k x F J). reflexivity.
  - intros k I. apply In_nth_error in I. destruct I as [q F]. apply sum_none. intros o J. unfold of_upper.
    rewrite (Q q k o F); [reflexivity|]. destruct (gone_on k); [|exact J]. destruct (waiting k); [exact J|right;
      exact J].
Qed.

Lemma waves_more n m o : n <= m -> waves n o <= waves m o.
Proof. intros L. unfold waves. apply Nat.mul_le_mono_r, ceil_more, L. Qed.

(* Some blocks end. *)
Lemma fewer_fine s t X e : now t = now s -> ee t = ee s ->
  (exists before r after, running s = before ++ r :: after /\ running t = before ++ after) ->
  fine s X e -> fine t X e.
Proof.
  intros N E (b & r & a & Rs & Rt) [F1 F2 F3 F4].
  assert (Sub : forall x, In x (running t) -> In x (running s)).
  { intros x I. rewrite Rt in I. rewrite Rs. apply in_app_iff in I. apply in_app_iff. simpl. tauto. }
  assert (K : forall l o n rest, next_kernel t l o n rest <-> next_kernel s l o n rest).
  { intros l o n rest. unfold next_kernel. rewrite E. tauto. }
  split.
  - rewrite N. exact F1.
  - intros x I U. destruct (F2 x (Sub x I) U) as [L|(l & n & rest & H & L)]; [left; exact L|right].
    exists l, n, rest. rewrite K. tauto.
  - intros x l o n rest I U B H. apply K in H. eapply F3; eauto.
  - intros l o n rest H U. apply K in H. specialize (F4 l o n rest H U).
    assert (L : late (number o) X (running t) <= late (number o) X (running s)).
    { rewrite Rs, Rt, !late_app. change (r :: a) with ([r] ++ a). rewrite late_app. lia. }
    assert (M := waves_more (n + late (number o) X (running t)) (n + late (number o) X (running s)) o). lia.
Qed.

Lemma lower_level l o b : nth_error (streams g) (stream o) = Some (Stream l b) -> upper o = (l <? top).
Proof. intros E. unfold upper, level_of. rewrite E. reflexivity. Qed.

(* Something upper begins or goes on that takes up to [d]. *)
Lemma longer_fine s t X e d : now t = now s -> ee t = ee s -> fine s X e ->
  (running t = running s \/ exists r, running t = running s ++ [r] /\ is_block r = false /\
    (upper (of r) = true -> ends r <= X + d)) -> fine t (X + d) e.
Proof.
  intros N E [F1 F2 F3 F4] Rt.
  assert (K : forall l o n rest, next_kernel t l o n rest <-> next_kernel s l o n rest).
  { intros l o n rest. unfold next_kernel. rewrite E. tauto. }
  assert (I' : forall x, In x (running t) -> In x (running s) \/ is_block x = false /\ (upper (of x) = true -> ends x <=
    X + d)).
  { intros x I. destruct Rt as [Rt|(r & Rt & B & L)]; rewrite Rt in I; [left; exact I|]. apply in_app_iff in I.
    destruct I as [I|[<-|[]]]; [left; exact I|right; tauto]. }
  split.
  - lia.
  - intros x I U. destruct (I' x I) as [J|[_ L]]; [|left; apply L, U].
    destruct (F2 x J U) as [L|(l & n & rest & H & L)]; [left; lia|right].
    exists l, n, rest. rewrite K. split; [exact H|lia].
  - intros x l o n rest I U B H U'. apply K in H. destruct (I' x I) as [J|[L _]]; [|congruence].
    specialize (F3 x l o n rest J U B H U'). lia.
  - intros l o n rest H U. apply K in H. specialize (F4 l o n rest H U).
    assert (L : late (number o) (X + d) (running t) <= late (number o) X (running s)).
    { assert (L := late_less (number o) X (X + d) (running s)). destruct Rt as [Rt|(r & Rt & B & _)]; rewrite Rt;
      [lia|].
      rewrite late_app. unfold late at 2. simpl. rewrite B. simpl. lia. }
    assert (M := waves_more (n + late (number o) (X + d) (running t)) (n + late (number o) X (running s)) o). lia.
Qed.

Lemma kernel_upper s l o n rest : kept s -> next_kernel s l o n rest -> upper o = (l <? top).
Proof.
  intros K [E _]. destruct (kept_ee s K l _ _ E (or_introl eq_refl)) as (_ & L & _). simpl in L. unfold upper.
  rewrite L. reflexivity.
Qed.

(* A block of a lower priority than level [l] runs no longer than [blocks l]. *)
Lemma lower_block s r l : usage g s -> kept s -> everywhere P s -> In r (running s) -> is_block r = true ->
  l < level_of (stream (of r)) -> ends r <= now s + blocks l.
Proof.
  intros U K A I B L. assert (S := kept_short K r I). unfold is_block in B.
  destruct (on r) as [i|] eqn:O; [|discriminate B].
  destruct (usage_places g s U r i I O) as (_ & b & need & la & W).
  destruct (allowed_kernel _ (closed_allowed C _ (everywhere_running _ s A r I)) _ _ _ W) as (_ & _ & Q).
  specialize (Q l L). unfold worst_of in S. rewrite W in S. lia.
Qed.

Lemma kernel_goes_on s t l o n before : usage g s -> kept s -> everywhere P s ->
  now t = now s -> running t = running s -> nth_error (ee s) l = Some before ->
  ee t = update l (before ++ [(o, n)]) (ee s) -> upper o = (l <? top) ->
  forall X e, fine s X e -> fine t (X + if upper o then blocks l else 0) e.
Proof.
  intros U K A N R Eb Et Uo X e [F1 F2 F3 F4].
  assert (Ends : l < top -> forall r, In r (running s) -> is_block r = true ->
    (forall l1 o1 n1 rest1, next_kernel s l1 o1 n1 rest1 -> l < l1) -> ends r <= X + blocks l).
  { intros L r I B Low. destruct (upper (of r)) eqn:Ur.
    - destruct (F2 r I Ur) as [Q|(l1 & n1 & rest1 & H & Q)]; [lia|]. specialize (Low _ _ _ _ H).
      assert (Lb := lower_block s r l U K A I B). assert (Z := kernel_upper s _ _ _ _ K H).
      destruct H as [H _]. destruct (kept_ee s K _ _ _ H (or_introl eq_refl)) as (_ & Lv & _). simpl in Lv. lia.
    - assert (Lb := lower_block s r l U K A I B). unfold upper in Ur. apply Nat.ltb_ge in Ur. lia. }
  assert (Engine : forall r, In r (running s) -> is_block r = false -> upper (of r) = true -> ends r <= X).
  { intros r I B Ur. destruct (F2 r I Ur) as [Q|(l1 & n1 & rest1 & [H _] & Q)]; [exact Q|].
    destruct (kept_ee s K _ _ _ H (or_introl eq_refl)) as (_ & _ & b & need & la & W). simpl in W.
    unfold is_block in B. destruct (on r) as [i|en] eqn:O; [discriminate B|].
    destruct (kept_copy K r en I O) as [la' W']. congruence. }
  split; rewrite ?R.
  - rewrite N. lia.
  - intros r I Ur. destruct (F2 r I Ur) as [Q|(l1 & n1 & rest1 & H & Q)]; [left; lia|].
    destruct (Nat.le_gt_cases l1 l) as [L|L].
    + destruct (next_stays s t l before _ l1 (of r) n1 rest1 Eb Et L H) as [rest2 H2]. right. exists l1, n1, rest2.
      split; [exact H2|lia].
    + left. assert (Z := kernel_upper s _ _ _ _ K H). rewrite Ur in Z. symmetry in Z. apply Nat.ltb_lt in Z.
      rewrite Uo. destruct (Nat.ltb_spec l top); [|lia]. destruct (is_block r) eqn:B; [|rewrite (Engine r I B Ur); lia].
      apply Ends; auto. intros l2 o2 n2 rest2 H2. destruct (next_unique _ _ _ _ _ _ _ _ _ H H2) as (<- & _). exact L.
  - intros r l1 o1 n1 rest1 I Ur B H U1. destruct (next_entered s t l before _ _ _ _ _ Eb Et H) as [[rest2 H2]|(-> & Z
    & Low)].
    + specialize (F3 r _ _ _ _ I Ur B H2 U1). lia.
    + injection Z as -> ->. rewrite Uo in U1 |- *. destruct (Nat.ltb_spec l top) as [L|]; [|discriminate U1].
      apply Ends; auto. intros l2 o2 n2 rest2 [H2 _]. apply Nat.nle_gt. intros L2. rewrite (Low l2 L2) in H2.
        discriminate H2.
  - intros l1 o1 n1 rest1 H U1. destruct (next_entered s t l before _ _ _ _ _ Eb Et H) as [[rest2 H2]|(-> & Z & Low)].
    + specialize (F4 _ _ _ _ H2 U1).
      assert (L := late_less (number o1) X (X + if upper o then blocks l else 0) (running s)).
      assert (M := waves_more (n1 + late (number o1) (X + if upper o then blocks l else 0) (running s))
        (n1 + late (number o1) X (running s)) o1). lia.
    + injection Z as -> ->. rewrite Uo in U1 |- *. destruct (Nat.ltb_spec l top) as [L|]; [|discriminate U1].
      rewrite late_none; [rewrite Nat.add_0_r; lia|]. intros r I B.
      apply Ends; auto. intros l2 o2 n2 rest2 [H2 _]. apply Nat.nle_gt. intros L2. rewrite (Low l2 L2) in H2.
        discriminate H2.
Qed.

(* Time passes over [X] only if blocks of the head take all SMs, or if nothing is left. *)
Lemma time_passes s t X e : usage g s -> kept s -> in_order g s -> everywhere P s ->
  turn s = Dispatch -> no_copy_begins s -> no_block_fits g s -> (forall r, In r (running s) -> t <= ends r) -> X < t ->
  fine s X e ->
  only_lower s \/
  exists l o n rest, next_kernel s l o n rest /\ upper o = true /\ worst_of o <= e /\ t <= X + worst_of o /\
    forall r, In r (running s) -> is_block r = true -> ends r <= X + worst_of o.
Proof.
  intros U K O A T NC NB Ends L [F1 F2 F3 F4].
  assert (Head : (forall l o n rest, next_kernel s l o n rest -> upper o = false) \/
    exists l o n rest, next_kernel s l o n rest /\ upper o = true).
  { destruct (some_kernel_next s) as [Z|(l & o & n & rest & H)].
    - left. intros l o n rest [H _]. specialize (Z _ _ H). discriminate Z.
    - destruct (upper o) eqn:Uo; [right; exists l, o, n, rest; tauto|]. left. intros l' o' n' rest' H'.
      destruct (next_unique _ _ _ _ _ _ _ _ _ H H') as (_ & <- & _). exact Uo. }
  destruct Head as [Z|(l & o & n & rest & H & Uo)].
  2: { right. exists l, o, n, rest. split; [exact H|]. split; [exact Uo|].
    destruct (kept_ee s K _ _ _ (proj1 H) (or_introl eq_refl)) as (_ & _ & b & need & la & W). simpl in W.
    assert (Own : forall r, In r (running s) -> is_block r = true -> of r = o /\ ends r <= X + worst_of o).
    { intros r I B. specialize (Ends r I). destruct (upper (of r)) eqn:Ur.
      - destruct (F2 r I Ur) as [Q|(l1 & n1 & rest1 & H1 & Q)]; [lia|].
        destruct (next_unique _ _ _ _ _ _ _ _ _ H H1) as (_ & Z & _). rewrite Z. split; [reflexivity|exact Q].
      - specialize (F3 r _ _ _ _ I Ur B H Uo). lia. }
    destruct (allowed_kernel _ (closed_allowed C _ (everywhere_ee _ s A _ _ _ (proj1 H) (or_introl eq_refl))) _ _ _ W)
      as (Pos & Cap & _). simpl in Cap.
    assert (Wn : need_of o = need) by (unfold need_of; rewrite W; reflexivity).
    assert (Full : capacity o <= blocks_on (running s)).
    { rewrite <- (sum_counts (length (sms g)) (running s)) by (intros r i I On; apply (usage_places g s U r i I On)).
      unfold capacity. rewrite Wn. assert (Le : forall i cap,
        nth_error (sms g) i = Some cap -> (if leaves (stream o) i then held need cap else 0) <= count i (running s)).
      { intros i cap Ec. destruct (leaves (stream o) i) eqn:M; [|apply Nat.le_0_l].
        destruct (nth_error (free s) i) as [room|] eqn:Er.
        - apply (full_sm need cap room); [exact Pos| |].
          + rewrite <- (used_count need i (running s)); [apply (usage_free g s U i room cap Er Ec)| |].
            * intros r I b' need' la' W'. destruct (is_block r) eqn:B.
              { destruct (Own r I B) as [Z _]. rewrite Z, W in W'. congruence. }
              unfold is_block in B. destruct (on r) as [j|en] eqn:On; [discriminate B|].
              destruct (kept_copy K r en I On) as [la'' W'']. congruence.
            * intros r j I On. apply (usage_places g s U r j I On).
          + intros F. apply (NB _ _ _ _ _ _ _ i room H W (proj1 (may_useb_spec g o i) M)). split; assumption.
        - apply nth_error_None in Er. rewrite (usage_sms g s U) in Er.
          assert (i < length (sms g)) by (apply nth_error_Some; congruence). lia. }
      clear - Le. revert Le. generalize (sms g). intros caps Le.
      assert (G : forall a, (forall i cap, nth_error caps i = Some cap ->
          (if leaves (stream o) (a + i) then held need cap else 0) <= count (a + i) (running s)) ->
        capacity_from (stream o) need a caps <= sum (map (fun i => count i (running s)) (seq a (length caps)))).
      { clear Le. induction caps as [|cap caps IH]; intros a Le; simpl; [lia|].
        assert (X := Le 0 cap eq_refl). rewrite !Nat.add_0_r in X. apply Nat.add_le_mono; [exact X|].
        apply (IH (S a)). intros i c E. specialize (Le (S i) c E). rewrite Nat.add_succ_r in Le. exact Le. }
      apply (G 0). exact Le. }
    assert (Late : late (number o) X (running s) = blocks_on (running s)).
    { unfold late, blocks_on. f_equal. apply filter_ext_in. intros r I. destruct (is_block r) eqn:B; [|reflexivity].
      destruct (Own r I B) as [-> _]. rewrite Nat.eqb_refl. specialize (Ends r I).
      destruct (Nat.ltb_spec X (ends r)); [reflexivity|lia]. }
    repeat split.
    - specialize (F4 _ _ _ _ H Uo). rewrite Late in F4.
      assert (M := waves_more (n + capacity o) (n + blocks_on (running s)) o).
      assert (Q : waves (n + capacity o) o = worst_of o + waves n o).
      { unfold waves. rewrite ceil_next by exact Cap. reflexivity. }
      lia.
    - assert (Some_r : exists r, In r (running s) /\ is_block r = true).
      { unfold blocks_on in Full. destruct (filter is_block (running s)) as [|r l'] eqn:F; [simpl in Full; lia|].
        exists r. apply filter_In. rewrite F. left. reflexivity. }
      destruct Some_r as (r & I & B). specialize (Ends r I). destruct (Own r I B) as [_ Q]. lia.
    - intros r I B. apply (Own r I B). }
  left.
  assert (Run : forall r, In r (running s) -> upper (of r) = false).
  { intros r I. destruct (upper (of r)) eqn:Ur; [|reflexivity]. specialize (Ends r I).
    destruct (F2 r I Ur) as [Q|(l1 & n1 & rest1 & H1 & Q)]; [lia|]. rewrite <- Ur. apply (Z _ _ _ _ H1). }
  apply nothing_left; auto.
  - apply (usage_dispatch g s U T).
  - intros l k x E I. destruct (some_kernel_next s) as [Q|(l1 & o & n & rest & H)].
    + rewrite (Q l k E) in I. destruct I.
    + assert (Uo := Z _ _ _ _ H). rewrite (kernel_upper s _ _ _ _ K H) in Uo. apply Nat.ltb_ge in Uo.
      destruct (kept_ee s K l k x E I) as (_ & Lv & _). unfold upper. rewrite Lv. apply Nat.ltb_ge.
      destruct (Nat.le_gt_cases l1 l) as [Le|Gt]; [lia|]. rewrite (proj2 H l Gt) in E. injection E as <-. destruct I.
  - intros en k o E I. destruct (upper o) eqn:Uo; [|reflexivity]. exfalso.
    destruct (kept_ce K en k o E I) as (_ & _ & la & W).
    assert (Po := everywhere_ce _ s A en k o E I).
    destruct k as [|h rest]; [destruct I|]. apply (NC en h rest). split; [exact E|]. intros r J On.
    destruct (kept_copy K r en J On) as [la' W'].
    assert (X' := closed_engine C o (of r) en la la' Po (everywhere_running _ s A r J) Uo W W').
    rewrite (Run r J) in X'. discriminate X'.
Qed.

Lemma launch_to_begin s o b before : in_order g s -> nth_error (queues s) (stream o) = Some (Queue b before) ->
  sum (map in_queue (update (stream o) (Queue b (before ++ [o])) (queues s))) =
  sum (map in_queue (queues s)) + of_upper full o.
Proof.
  intros O E. assert (S := sum_update in_queue (Queue b (before ++ [o])) _ _ _ E).
  assert (Q : in_queue (Queue b (before ++ [o])) = in_queue (Queue b before) + of_upper full o); [|lia].
  unfold in_queue. simpl. destruct b.
  - assert (G := order_gone g s O _ _ E eq_refl). simpl in G. destruct before as [|h before]; [congruence|].
    simpl. rewrite map_app, sum_app. simpl. lia.
  - rewrite map_app, sum_app. simpl. lia.
Qed.

Lemma goes_on_to_begin qs q o rest k : nth_error qs q = Some (Queue false (o :: rest)) ->
  k = Queue true (o :: rest) \/ k = Queue false rest ->
  sum (map in_queue (update q k qs)) + of_upper full o = sum (map in_queue qs).
Proof.
  intros E K. assert (S := sum_update in_queue k _ _ _ E).
  assert (F : in_queue (Queue false (o :: rest)) = of_upper full o + in_queue k); [|lia].
  destruct K as [->| ->]; reflexivity.
Qed.

(* Where nothing is left, what is launched can be served from then on. *)
Lemma over_begins s x t D : in_order g s -> step g s x t -> only_lower s ->
  over_at t (match x with Launch o => if upper o then Nat.max D (now s) + full o else D | _ => D end).
Proof.
  intros O H V.
  assert (Stays : (forall o, x = Launch o -> upper o = false) -> only_lower t)
    by (intros N; apply (everywhere_step _ g s _ _ V H N)).
  destruct x as [o| | | | | | | |]; try (left; apply Stays; discriminate).
  destruct (upper o) eqn:Uo; [|left; apply Stays; intros p Z; injection Z as <-; exact Uo].
  right. exists (now s), 0. inversion H; subst.
  match goal with Q : nth_error (queues s) _ = Some (Queue b before) |- _ =>
    assert (S := launch_to_begin s o b before O Q) end.
  split; [|unfold to_begin; simpl; unfold of_upper in S; rewrite Uo in S;
    assert (Z := nothing_to_begin s V); unfold to_begin in Z; lia].
  destruct V as [_ E _ R].
  assert (NoHead : forall l o' n rest, next_kernel s l o' n rest -> upper o' = true -> False).
  { intros l o' n rest [Q _] U'. assert (Z := E _ _ _ Q (or_introl eq_refl)). simpl in Z. congruence. }
  split; simpl.
  - lia.
  - intros r I Ur. rewrite (R r I) in Ur. discriminate Ur.
  - intros r l o' n rest I Ur B Q U'. destruct (NoHead _ _ _ _ Q U').
  - intros l o' n rest Q U'. destruct (NoHead _ _ _ _ Q U').
Qed.

Theorem over_step s x t D : usage g s -> kept s -> in_order g s -> everywhere P s -> step g s x t -> over_at s D ->
  over_at t (match x with Launch o => if upper o then Nat.max D (now s) + full o else D | _ => D end).
Proof.
  intros U K O A H V. destruct V as [V|(X & e & F & L)]; [apply (over_begins s x t D O H V)|]. assert (H' := H).
  inversion H; subst; clear H;
    try match goal with F : first_ready _ _ _ _ _ |- _ => destruct F as [[F0 _] _] end.
  - (* the last block ended *)
    rename H3 into Rs.
    right. exists X, e. split.
    + eapply fewer_fine; [| | |exact F]; try reflexivity. exists before, r, after. split; [|reflexivity].
      assumption.
    + unfold to_begin in *. simpl.
      match goal with Q : nth_error (queues s) _ = Some (Queue true _) |- _ =>
        assert (S := sum_update in_queue (Queue false rest) _ _ _ Q) end. unfold in_queue at 2 4 in S. simpl in S. lia.
  - right. exists X, e. split; [|exact L].
    eapply fewer_fine; [| | |exact F]; try reflexivity. exists before, r, after. split; [|reflexivity]. assumption.
  - right. exists X, e. split; [|exact L]. destruct F as [F1 F2 F3 F4]. split; assumption.
  - (* a launch *)
    match goal with Q : nth_error (queues s) _ = Some (Queue b before) |- _ =>
      assert (S := launch_to_begin s o b before O Q) end.
    right. exists X, e. destruct F as [F1 F2 F3 F4]. split; [split; assumption|].
    unfold to_begin in *. simpl. unfold of_upper in S. destruct (upper o); lia.
  - right. exists X, e. split; [|exact L]. destruct F as [F1 F2 F3 F4]. split; assumption.
  - (* a kernel goes on *)
    right. exists (X + if upper o then blocks l else 0), e.
    match goal with W : nth_error (streams g) _ = _ |- _ => assert (Uo := lower_level l o b W); rename W into Ws end.
    match goal with W : nth_error (ee s) l = Some before |- _ => rename W into Eb end.
    split.
    + eapply kernel_goes_on with (n := n); try eassumption; reflexivity.
    + unfold to_begin in *. simpl.
      assert (S := goes_on_to_begin _ _ _ _ _ F0 (or_introl eq_refl)).
      assert (T := sum_update in_ee (before ++ [(o, n)]) _ _ _ Eb). unfold in_ee at 4 in T.
      rewrite map_app, sum_app in T. fold (in_ee before) in T. simpl in T.
      unfold of_upper at 1 in S. unfold of_upper in T. destruct (upper o); [|lia]. unfold full at 1 in S.
      match goal with W : what o = _ |- _ => rewrite W in S end. unfold level_of in S. rewrite Ws in S. simpl in S. lia.
  - (* a copy goes on *)
    right. exists X, e. split; [destruct F as [F1 F2 F3 F4]; split; assumption|].
    match goal with W : nth_error (ce s) _ = Some before |- _ => rename W into Eb end.
    unfold to_begin in *. simpl.
    assert (S := goes_on_to_begin _ _ _ _ _ F0 (or_introl eq_refl)).
    assert (T := sum_update in_ce (before ++ [o]) _ _ _ Eb). unfold in_ce at 4 in T.
    rewrite map_app, sum_app in T. fold (in_ce before) in T. simpl in T.
    unfold of_upper at 1 in S. unfold of_upper in T. destruct (upper o); [|lia]. unfold full at 1 in S.
    match goal with W : what o = _ |- _ => rewrite W in S end. lia.
  - (* a memset, record or wait ends *)
    right. exists X, e. split; [destruct F as [F1 F2 F3 F4]; split; assumption|].
    unfold to_begin in *. simpl.
    assert (S := goes_on_to_begin _ _ _ _ _ F0 (or_intror eq_refl)). lia.
  - (* a copy begins *)
    right. exists (X + of_upper worst_of o), e.
    match goal with W : may_begin s _ _ _ |- _ => destruct W as [Q _] end.
    split.
    + eapply (longer_fine s); [reflexivity|reflexivity|exact F|]. right. exists (Run o (Engine e0) (now s + d)). simpl.
      split; [reflexivity|]. split; [reflexivity|]. intros Uo. unfold of_upper, worst_of. rewrite Uo.
      match goal with W : what o = _ |- _ => rewrite W end. match goal with W : within _ _ |- _ => destruct W end.
      assert (Z := fine_now _ _ _ F). lia.
    + unfold to_begin in *. simpl. assert (T := sum_update in_ce rest _ _ _ Q).
      change (in_ce (o :: rest)) with (of_upper worst_of o + in_ce rest) in T. lia.
  - (* a block is assigned *)
    match goal with W : next_kernel s _ _ _ _ |- _ => rename W into Hd end.
    match goal with W : what o = Kernel _ _ _ |- _ => rename W into Wo end.
    match goal with W : within _ _ |- _ => destruct W as [_ Wd] end.
    assert (Hd' := Hd). destruct Hd' as [Q Low]. assert (Uo := kernel_upper s _ _ _ _ K Hd).
    assert (T := sum_update in_ee (G3 o n rest) _ _ _ Q).
    change (in_ee ((o, S n) :: rest)) with (of_upper (waves (S n)) o + in_ee rest) in T.
    assert (G : in_ee (G3 o n rest) = match n with 0 => 0 | _ => of_upper (waves n) o end + in_ee rest)
      by (destruct n; reflexivity). rewrite G in T. clear G.
    assert (Wst : worst_of o = worst lasts) by (unfold worst_of; rewrite Wo; reflexivity).
    set (new := Run o (Sm i) (now s + d)) in *.
    assert (Nd : forall l1 o1 n1 rest1, next_kernel (State (now s) (turn s) (launched s) (queues s)
      (update l (G3 o n rest) (ee s)) (ce s) (running s ++ [new]) (update i (minus room need) (free s))) l1 o1 n1
        rest1 ->
      l <= l1 /\ (forall m, n = S m -> l1 = l /\ o1 = o /\ n1 = n)).
    { intros l1 o1 n1 rest1 [E1 L1]. simpl in E1, L1. assert (Le : l <= l1).
      { apply Nat.nlt_ge. intros Lt. rewrite update_other in E1 by lia. rewrite (Low l1 Lt) in E1. discriminate E1. }
      split; [exact Le|]. intros m ->. destruct (Nat.eq_dec l l1) as [<-|N].
      - rewrite (update_same _ _ _ _ Q) in E1. injection E1 as <- <- _. tauto.
      - specialize (L1 l). rewrite (update_same _ _ _ _ Q) in L1. assert (l < l1) by lia. discriminate (L1 H). }
    destruct F as [F1 F2 F3 F4].
    assert (Lt : forall m Y, late m Y (running s ++ [new]) <= S (late m Y (running s))).
    { intros m Y. rewrite late_app. assert (Z : late m Y [new] <= 1); [|lia]. unfold late. simpl.
      destruct (_ && _); simpl; lia. }
    destruct (upper o) eqn:Up.
    + assert (Hw := F4 _ _ _ _ Hd Up).
      assert (Old : forall r, In r (running s) -> upper (of r) = true -> ends r <= X + worst_of o).
      { intros r I Ur. destruct (F2 r I Ur) as [Z|(l1 & n1 & rest1 & Hk & Z)]; [lia|].
        destruct (next_unique _ _ _ _ _ _ _ _ _ Hd Hk) as (_ & Y & _). rewrite Y. exact Z. }
      unfold of_upper in T. rewrite Up in T. destruct n as [|n].
      * right. exists (X + e + waves 1 o), 0.
        assert (Cap : 0 < capacity o).
        { apply (allowed_kernel _ (closed_allowed C _ (everywhere_ee _ s A _ _ _ Q
          (or_introl
          eq_refl))) _ _ _ Wo). }
        assert (One : worst_of o <= waves (1 + late (number o) X (running s)) o).
        { unfold waves. assert (Z := ceil_some (1 + late (number o) X (running s)) _ (Nat.lt_0_succ _) Cap). nia. }
        split; [|unfold to_begin in *; simpl in *; lia].
        assert (All : forall r, In r (running s ++ [new]) -> upper (of r) = true -> ends r <= X + e + waves 1 o).
        { intros r I Ur. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [specialize (Old r I Ur); lia|]. simpl.
          lia. }
        assert (Lower : forall r, In r (running s ++ [new]) -> upper (of r) = false -> is_block r = true -> ends r <=
          X).
        { intros r I Ur B. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [|simpl in Ur; congruence].
          apply (F3 r _ _ _ _ I Ur B Hd Up). }
        split; simpl.
        { lia. }
        { intros r I Ur. left. apply (All r I Ur). }
        { intros r l1 o1 n1 rest1 I Ur B Hk U1. specialize (Lower r I Ur B). lia. }
        { intros l1 o1 n1 rest1 Hk U1. rewrite late_none; [rewrite Nat.add_0_r; lia|]. intros r I B.
          destruct (upper (of r)) eqn:Ur; [apply (All r I Ur)|specialize (Lower r I Ur B); lia]. }
      * right. exists X, (e + waves (S (S n)) o - waves (S n) o).
        assert (M := waves_more (S n) (S (S n)) o (Nat.le_succ_diag_r _)).
        split; [|unfold to_begin in *; simpl in *; lia].
        split; simpl.
        { exact F1. }
        { intros r I Ur. apply in_app_iff in I. destruct I as [I|[<-|[]]].
          - destruct (F2 r I Ur) as [Z|(l1 & n1 & rest1 & Hk & Z)]; [left; exact Z|right].
            destruct (next_unique _ _ _ _ _ _ _ _ _ Hd Hk) as (_ & Y & _). exists l, (S n), rest. rewrite <- Y.
            split; [|rewrite Y; exact Z]. split; simpl.
            + apply (update_same _ _ _ _ Q).
            + intros h Lh. rewrite update_other by lia. apply Low, Lh.
          - right. exists l, (S n), rest. simpl. split; [|lia]. split; simpl.
            + apply (update_same _ _ _ _ Q).
            + intros h Lh. rewrite update_other by lia. apply Low, Lh. }
        { intros r l1 o1 n1 rest1 I Ur B Hk U1. apply in_app_iff in I. destruct I as [I|[<-|[]]].
          - apply (F3 r _ _ _ _ I Ur B Hd Up).
          - simpl in Ur. congruence. }
        { intros l1 o1 n1 rest1 Hk U1. destruct (proj2 (Nd _ _ _ _ Hk) n eq_refl) as (_ & -> & ->).
          specialize (Lt (number o) X).
          assert (Z := waves_more (S n + late (number o) X (running s ++ [new]))
            (S (S n) + late (number o) X (running s)) o). lia. }
    + right. exists X, e. symmetry in Uo. apply Nat.ltb_ge in Uo.
      assert (Nu : forall l1 o1 n1 rest1, next_kernel (State (now s) (turn s) (launched s) (queues s)
        (update l (G3 o n rest) (ee s)) (ce s) (running s ++ [new]) (update i (minus room need) (free s))) l1 o1 n1
          rest1 ->
        upper o1 = true -> False).
      { intros l1 o1 n1 rest1 Hk U1. assert (K1 := kept_step g _ _ _ K H').
        rewrite (kernel_upper _ _ _ _ _ K1 Hk) in U1.
        apply Nat.ltb_lt in U1. assert (Z := proj1 (Nd _ _ _ _ Hk)). lia. }
      split.
      * split; simpl.
        { exact F1. }
        { intros r I Ur. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [|simpl in Ur; congruence].
          destruct (F2 r I Ur) as [Z|(l1 & n1 & rest1 & Hk & Z)]; [left; exact Z|].
          destruct (next_unique _ _ _ _ _ _ _ _ _ Hd Hk) as (_ & Y & _). congruence. }
        { intros r l1 o1 n1 rest1 I Ur B Hk U1. destruct (Nu _ _ _ _ Hk U1). }
        { intros l1 o1 n1 rest1 Hk U1. destruct (Nu _ _ _ _ Hk U1). }
      * unfold to_begin in *. simpl. unfold of_upper in T. rewrite Up in T. destruct n; lia.
  - right. exists X, e. split; [|exact L]. destruct F as [F1 F2 F3 F4]. split; assumption.
  - (* time passes *)
    destruct (Nat.le_gt_cases t0 X) as [Le|Gt].
    + right. exists X, e. split; [|exact L]. destruct F as [F1 F2 F3 F4]. split; assumption.
    + destruct (time_passes s t0 X e U K O A) as [V|(l & o & n & rest & Hd & Uo & We & Wt & Own)]; try assumption.
      * left. apply (everywhere_step _ g s _ _ V H'). discriminate.
      * right. exists (X + worst_of o), 0. destruct F as [F1 F2 F3 F4]. split; [|unfold to_begin in *; simpl in *; lia].
        split; simpl.
        { exact Wt. }
        { intros r I Ur. left. destruct (F2 r I Ur) as [Q|(l1 & n1 & rest1 & Hk & Q)]; [lia|].
          destruct (next_unique _ _ _ _ _ _ _ _ _ Hd Hk) as (_ & Z & _). rewrite Z. exact Q. }
        { intros r l1 o1 n1 rest1 I Ur B Hk U1. apply (Own r I B). }
        { intros l1 o1 n1 rest1 Hk U1. rewrite late_none by exact Own. rewrite Nat.add_0_r. lia. }
Qed.
End Serial.
