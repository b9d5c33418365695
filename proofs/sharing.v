(* A checker of certificates for kernels that share the GPU: how much each block weighs, and between which instants there
   is work; what follows once it accepts one. *)
From Coq Require Import List Arith Bool Lia Permutation.
Import ListNotations.
From gpusched Require Import model executable follows lists usage queues capacity progress serial closed busy certificate
  waits shared.

(* A time in which there may be work, and for which jobs that is enough. *)
Record span := Span { begins : nat; over_at_last : nat; shows : list job }.

Section Sharing.
Variables (g : device) (top : nat) (items : list item).
(* How much a block weighs that needs so much, in parts of what keeps a head out of one SM. *)
Variables (scale : nat) (weights : list (resources * nat)).

Definition kinds : list kind := map kind_at items.
Definition fields : list (resources -> nat) := [threads; slots; shared; registers].
Definition unit_of (f : resources -> nat) : nat := fold_right (fun x u => Nat.gcd (f (fst x)) u) 0 weights.
(* So much is taken of an SM at least when a block finds too little of it. *)
Definition taken (f : resources -> nat) (need cap : resources) : nat :=
  ((f cap - f need) / unit_of f + 1) * unit_of f.
(* Blocks that keep one that needs [need] out of an SM weigh enough. *)
Definition keeps_out (need cap : resources) : bool :=
  fitsb need cap && forallb (fun f => forallb (fun x =>
    (scale <=? snd x) || (scale * f (fst x) <=? snd x * taken f need cap)) weights) fields.
Definition weight_of_need (need : resources) : option nat :=
  option_map snd (find (fun x => resources_eqb (fst x) need) weights).
(* How many SMs the mask of a stream leaves its kernels, and the fewest that one does. *)
Definition usable (q : nat) : nat := length (filter (may_useb g (of_kind (q, Instant))) (seq 0 (length (sms g)))).
Definition fewest : nat := fold_right Nat.min (length (sms g)) (map usable (seq 0 (length (streams g)))).
Definition all_sms : nat := scale * fewest.
Definition weight (o : operation) : nat :=
  match what o with
  | Kernel _ need _ => match weight_of_need need with Some w => w | None => 0 end
  | Copy _ _ => all_sms
  | _ => 0
  end.
Definition has_weight (k : kind) : bool :=
  match snd k with Kernel _ need _ => match weight_of_need need with Some _ => true | None => false end | _ => true end.
(* SMs that are equal are looked at once. *)
Fixpoint different (l : list resources) : list resources :=
  match l with
  | [] => []
  | x :: rest => match rest with y :: _ => if resources_eqb x y then different rest else x :: different rest | [] => [x] end
  end.
Definition enough_weight : bool :=
  (0 <? all_sms) && forallb has_weight (filter (above g top) kinds)
  && forallb (fun cap => forallb (fun x => keeps_out (fst x) cap) weights) (different (sms g)).

(* Streams that launch something wait for no other. *)
Definition waits_for (q : nat) (k : kind) : bool :=
  negb (fst k =? q) && (if q =? 0 then blocking_of g (fst k) else blocking_of g q && (fst k =? 0)).
Definition stands_alone (q : nat) : bool :=
  negb (level_of g top q <? top) || negb (existsb (fun k => fst k =? q) kinds)
  || forallb (fun k => negb (waits_for q k)) kinds.
Definition all_alone : bool := forallb stands_alone (seq 0 (length (streams g))).

Let blocks (l : nat) : nat := nth l (table g top kinds) 0.
Definition work (i : item) : nat := of_upper g top (work_of weight) (of_kind (kind_at i)).
Definition time_of (i : item) : nat := takes_time top blocks (of_kind (kind_at i)).
(* All of a stream that is launched by [F] is over by then, if of [some] all is launched that is. *)
Definition by_then (some : list item) (q F : nat) : bool :=
  let now := filter (fun i => item_at i <=? F) some in
  all_sms * fold_left adds (map (fun i => (i, time_of i)) (filter (fun i => item_stream i =? q) now)) 0
  + sum (map work now) <=? all_sms * F.
Definition shows_job (some : list item) (s : span) (j : job) : bool :=
  let F := Nat.min (over_at_last s) (job_due j) in
  (level_of g top (job_stream j) <? top) && existsb (fun k => item_stream k =? job_stream j) some
  && (begins s <=? F) && (job_at j <=? F) && by_then some (job_stream j) F.
Definition is_upper (i : item) : bool := above g top (kind_at i).
Fixpoint spans (last : nat) (all : list span) : bool :=
  match all with
  | [] => forallb (fun i => negb (is_upper i) || (item_at i <? last)) items
  | s :: rest =>
      let some := filter (fun i => is_upper i && (begins s <=? item_at i) && (item_at i <=? over_at_last s)) items in
      (last <=? begins s) && (begins s <=? over_at_last s)
      && forallb (fun i => negb (is_upper i) || (item_at i <? last) || (begins s <=? item_at i)) items
      && forallb (fun q => negb (existsb (fun i => item_stream i =? q) some) || by_then some q (over_at_last s))
           (seq 0 (length (streams g)))
      && forallb (shows_job some s) (shows s)
      && spans (S (over_at_last s)) rest
  end.
Definition accept_shared (all : list span) : bool :=
  closedb g top kinds && enough_weight && all_alone && spans 0 all.

(* What keeps a head out weighs enough. *)
Lemma unit_divides f x : In x weights -> Nat.divide (unit_of f) (f (fst x)).
Proof.
  unfold unit_of. induction weights as [|y l IH]; intros I; [destruct I|]. simpl. destruct I as [->|I].
  - apply Nat.gcd_divide_l.
  - eapply Nat.divide_trans; [apply Nat.gcd_divide_r|]. apply IH, I.
Qed.
Lemma find_weight need w : weight_of_need need = Some w -> In (need, w) weights.
Proof.
  unfold weight_of_need. destruct (find _ weights) as [[n v]|] eqn:F; [|discriminate]. simpl. intros E.
  injection E as <-. apply find_some in F. destruct F as [I E]. simpl in E. apply resources_eqb_eq in E. subst. exact I.
Qed.

Lemma used_field f i l : In f fields -> f (used i l) = sum (map (fun r => f (need_of (of r))) (filter (on_sm i) l)).
Proof.
  intros F. assert (Plus : forall a b, f (plus a b) = f a + f b) by (simpl in F; intuition (subst; reflexivity)).
  assert (Zero : f nothing = 0) by (simpl in F; intuition (subst; reflexivity)).
  induction l as [|r l IH]; simpl; [exact Zero|]. destruct (on_sm i r); simpl; [rewrite Plus, IH; reflexivity|exact IH].
Qed.
Lemma not_fitting need room : ~ fits need room -> exists f, In f fields /\ f room < f need.
Proof.
  intros N. unfold fields.
  destruct (Nat.lt_ge_cases (threads room) (threads need)); [exists threads; simpl; tauto|].
  destruct (Nat.lt_ge_cases (slots room) (slots need)); [exists slots; simpl; tauto|].
  destruct (Nat.lt_ge_cases (shared room) (shared need)); [exists shared; simpl; tauto|].
  destruct (Nat.lt_ge_cases (registers room) (registers need)); [exists registers; simpl; tauto|].
  exfalso. apply N. unfold fits, R2, R3, Registers. lia.
Qed.
(* On one SM. *)
Lemma keeps_out_weighs i l need w cap room : In (need, w) weights -> keeps_out need cap = true ->
  (forall r, In r l -> on_sm i r = true -> In (need_of (of r), weight (of r)) weights) ->
  plus room (used i l) = cap -> ~ fits need room ->
  scale <= sum (map (fun r => weight (of r)) (filter (on_sm i) l)).
Proof.
  intros I K W E N. unfold keeps_out in K. rewrite andb_true_iff, forallb_forall in K. destruct K as [Fc K].
  destruct (not_fitting _ _ N) as (f & If & Less). specialize (K f If). rewrite forallb_forall in K.
  set (on := filter (on_sm i) l) in *.
  assert (U : f room + f (used i l) = f cap)
    by (rewrite <- E; simpl in If; intuition (subst; reflexivity)).
  assert (Fits : f need <= f cap).
  { apply fitsb_fits in Fc. destruct Fc as [[A B] [C D]]. unfold R3, Registers in *.
    simpl in If; intuition (subst; assumption). }
  assert (Dv : Nat.divide (unit_of f) (f (used i l))).
  { rewrite (used_field f i l If). assert (V : forall r, In r (filter (on_sm i) l) ->
      Nat.divide (unit_of f) (f (need_of (of r)))).
    { intros r J. apply filter_In in J. destruct J as [J O]. apply (unit_divides f _ (W r J O)). }
    revert V. generalize (filter (on_sm i) l). induction l0 as [|r m IH]; intros V; simpl; [apply Nat.divide_0_r|].
    apply Nat.divide_add_r; [apply V; left; reflexivity|apply IH; intros x J; apply V; right; exact J]. }
  assert (Unit : 0 < unit_of f).
  { assert (D := unit_divides f _ I). simpl in D. destruct (unit_of f); [|lia]. apply Nat.divide_0_l in D. lia. }
  assert (T : taken f need cap <= f (used i l)).
  { unfold taken. destruct Dv as [m Dm]. rewrite Dm in *. apply Nat.mul_le_mono_r.
    assert (Z : (f cap - f need) / unit_of f < m); [|lia]. apply Nat.div_lt_upper_bound; lia. }
  assert (Pos : 0 < taken f need cap) by (unfold taken; nia).
  assert (Heavy : (exists r, In r on /\ scale <= weight (of r)) \/
    forall r, In r on -> scale * f (need_of (of r)) <= weight (of r) * taken f need cap).
  { subst on. assert (Each : forall r, In r (filter (on_sm i) l) -> scale <= weight (of r) \/
      scale * f (need_of (of r)) <= weight (of r) * taken f need cap).
    { intros r J. apply filter_In in J. destruct J as [J O]. specialize (K _ (W r J O)). simpl in K.
      apply orb_true_iff in K. rewrite !Nat.leb_le in K. exact K. }
    revert Each. generalize (filter (on_sm i) l). induction l0 as [|r m IH]; intros Each; [right; intros r []|].
    destruct (Each r (or_introl eq_refl)) as [H|H]; [left; exists r; simpl; tauto|].
    destruct (IH (fun x J => Each x (or_intror J))) as [(x & J & Q)|Q]; [left; exists x; simpl; tauto|right].
    intros x [<-|J]; [exact H|apply Q, J]. }
  destruct Heavy as [(r & J & Q)|Q].
  - clear - J Q. induction on as [|x m IH]; [destruct J|]. destruct J as [->|J]; simpl; [lia|]. specialize (IH J). lia.
  - assert (S : scale * f (used i l) <= sum (map (fun r => weight (of r)) on) * taken f need cap).
    { rewrite (used_field f i l If). fold on. clear - Q. induction on as [|x m IH]; simpl; [lia|].
      specialize (IH (fun y J => Q y (or_intror J))). specialize (Q x (or_introl eq_refl)). nia. }
    assert (S' : scale * taken f need cap <= sum (map (fun r => weight (of r)) on) * taken f need cap) by nia.
    apply Nat.mul_le_mono_pos_r in S'; assumption.
Qed.

Lemma by_sm (h : run -> nat) n l :
  sum (map (fun i => sum (map h (filter (on_sm i) l))) (seq 0 n)) <= sum (map h l).
Proof.
  induction l as [|r l IH]; simpl; [rewrite sum_none; [lia|reflexivity]|].
  assert (E : forall k,
    sum (map (fun i => sum (map h (if on_sm i r then r :: filter (on_sm i) l else filter (on_sm i) l))) k) =
    sum (map (fun i => if on_sm i r then h r else 0) k) + sum (map (fun i => sum (map h (filter (on_sm i) l))) k)).
  { induction k as [|i k IHk]; simpl; [reflexivity|]. rewrite IHk. destruct (on_sm i r); simpl; lia. }
  rewrite E. enough (O : forall a, sum (map (fun i => if on_sm i r then h r else 0) (seq a n)) <= h r)
    by (specialize (O 0); lia).
  clear E IH. unfold on_sm. destruct (on r) as [j|e].
  2: { intros a. rewrite sum_none; [lia|reflexivity]. }
  induction n as [|n IH]; intros a; simpl; [lia|]. destruct (Nat.eqb_spec a j) as [->|N]; [|apply IH].
  rewrite sum_none; [lia|]. intros i I. apply in_seq in I. destruct (Nat.eqb_spec i j); [lia|reflexivity].
Qed.

Lemma in_different x l : In x l -> In x (different l).
Proof.
  induction l as [|y l IH]; intros I; [destruct I|]. simpl. destruct l as [|z l]; [exact I|].
  destruct (resources_eqb y z) eqn:E.
  - apply resources_eqb_eq in E. subst z. apply IH. destruct I as [->|I]; [left; reflexivity|exact I].
  - destruct I as [->|I]; [left; reflexivity|right; apply IH, I].
Qed.

Lemma enough_is_heavy : enough_weight = true -> heavy g top (mine kinds) weight all_sms.
Proof.
  unfold enough_weight. rewrite !andb_true_iff, !forallb_forall. intros [[_ Has] Keep] s o n need lasts U Ps Po Uo W N Up.
  assert (Known : forall p m nd la, mine kinds p -> upper g top p = true -> what p = Kernel m nd la ->
    In (nd, weight p) weights).
  { intros p m nd la Ip Upp Wp. assert (H : has_weight (kind_of p) = true) by (apply Has, filter_In; split; assumption).
    unfold has_weight in H. simpl in H. rewrite Wp in H. unfold weight. rewrite Wp.
    destruct (weight_of_need nd) eqn:F; [|discriminate H]. apply find_weight, F. }
  assert (Own := Known o n need lasts Po Uo W).
  assert (Sm : forall i cap, nth_error (sms g) i = Some cap -> may_useb g o i = true ->
    scale <= sum (map (fun r => of_upper g top weight (of r)) (filter (on_sm i) (running s)))).
  { intros i cap Ec M. destruct (nth_error (free s) i) as [room|] eqn:Er.
    2: { apply nth_error_None in Er. rewrite (usage_sms g s U) in Er.
      assert (i < length (sms g)) by (apply nth_error_Some; congruence). lia. }
    assert (Block : forall r, In r (running s) -> on_sm i r = true -> upper g top (of r) = true /\
      exists m nd la, what (of r) = Kernel m nd la).
    { intros r I O. unfold on_sm in O. destruct (on r) as [j|e] eqn:On; [|discriminate O]. split.
      - apply (Up r I). unfold is_block. rewrite On. reflexivity.
      - apply (usage_places g s U r j I On). }
    assert (Z := keeps_out_weighs i (running s) need (weight o) cap room Own).
    eapply Nat.le_trans; [apply Z|].
    - assert (Q := Keep cap (in_different _ _ (nth_error_In _ _ Ec))). rewrite forallb_forall in Q. apply (Q _ Own).
    - intros r I O. destruct (Block r I O) as (Ur & m & nd & la & Wr). unfold need_of. rewrite Wr.
      apply (Known (of r) m nd la (everywhere_running _ s Ps r I) Ur Wr).
    - apply (usage_free g s U i room cap Er Ec).
    - intros F. apply (N i room); [apply may_useb_spec, M|]. split; assumption.
    - apply sum_le. intros r I. apply filter_In in I. destruct (Block r (proj1 I) (proj2 I)) as [Ur _].
      unfold of_upper. rewrite Ur. lia. }
  unfold weighs. eapply Nat.le_trans; [|apply (by_sm _ (length (sms g)))]. unfold all_sms.
  set (h := fun i => sum (map (fun r => of_upper g top weight (of r)) (filter (on_sm i) (running s)))) in *.
  eapply Nat.le_trans; [apply (Nat.mul_le_mono_l _ (length (filter (may_useb g o) (seq 0 (length (sms g))))))|].
  - unfold fewest. change (length (filter (may_useb g o) (seq 0 (length (sms g))))) with (usable (stream o)).
    assert (I : In (stream o) (seq 0 (length (streams g)))).
    { apply in_seq. split; [lia|]. apply nth_error_Some. unfold upper in Uo. apply Nat.ltb_lt in Uo. unfold level_of in Uo.
      destruct (nth_error (streams g) (stream o)); [congruence|lia]. }
    revert I. generalize (seq 0 (length (streams g))) as l. induction l as [|q l IH]; intros I; [destruct I|]. simpl.
    destruct I as [->|I]; [lia|]. specialize (IH I). lia.
  - assert (Each : forall i, In i (seq 0 (length (sms g))) -> may_useb g o i = true -> scale <= h i).
    { intros i I M. apply in_seq in I. destruct (nth_error (sms g) i) as [cap|] eqn:Ec; [apply (Sm i cap Ec M)|].
      apply nth_error_None in Ec. lia. }
    revert Each. generalize (seq 0 (length (sms g))) as l. induction l as [|i l IH]; intros Each; simpl; [lia|].
    assert (Y := IH (fun j I => Each j (or_intror I))). specialize (Each i (or_introl eq_refl)).
    destruct (may_useb g o i); simpl; [specialize (Each eq_refl)|]; lia.
Qed.

Lemma alone_streams q : forallb stands_alone (seq 0 (length (streams g))) = true -> closedb g top kinds = true ->
  level_of g top q < top -> existsb (fun k => fst k =? q) kinds = true -> alone g top (mine kinds) weight all_sms q.
Proof.
  intros H Cl Lt Some_q. rewrite forallb_forall in H. assert (I : In q (seq 0 (length (streams g)))).
  { apply in_seq. split; [lia|]. apply nth_error_Some. unfold level_of in Lt.
    destruct (nth_error (streams g) q); [congruence|lia]. }
  specialize (H q I). unfold stands_alone in H. rewrite Some_q in H.
  destruct (Nat.ltb_spec (level_of g top q) top); [|lia]. simpl in H. rewrite forallb_forall in H.
  split; [exact Lt| | |].
  - intros o p _ Ip So Np Z. specialize (H _ Ip). apply negb_true_iff in H. unfold waits_for in H. simpl in H.
    rewrite (proj2 (Nat.eqb_neq _ _) Np) in H. simpl in H. unfold blocking_of in H.
    destruct Z as [[-> [l Bl]]|(Nq & [l Bl] & Zp)].
    + simpl in H. rewrite Bl in H. discriminate H.
    + rewrite (proj2 (Nat.eqb_neq _ _) Nq), Bl, Zp in H. discriminate H.
  - intros o r Io _ W. unfold closedb in Cl. rewrite !andb_true_iff, forallb_forall in Cl.
    destruct Cl as [[[Al _] _] _]. specialize (Al _ Io). unfold allowedb in Al. simpl in Al. rewrite W in Al.
    discriminate Al.
  - intros o p e l m _ _ _ _ Wp. unfold weight. rewrite Wp. apply le_n.
Qed.

(* Launches of a run, in their order, that are among the items. *)
Definition in_items (l : list operation) : Prop :=
  (exists rest, Permutation (map item_of l ++ rest) items) /\
  forall k o m, l = k ++ o :: m -> forall p, In p k -> launched_at p <= launched_at o.
Lemma prefix_in_items l k : in_items (l ++ k) -> in_items l.
Proof.
  intros [[rest H] S]. split.
  - exists (map item_of k ++ rest). rewrite map_app, <- app_assoc in H. exact H.
  - intros k' o m -> p I. apply (S k' o (m ++ k)); [rewrite <- app_assoc; reflexivity|exact I].
Qed.
Lemma in_items_in l o : in_items l -> In o l -> In (item_of o) items.
Proof.
  intros [[rest H] _] I. eapply Permutation_in; [exact H|]. apply in_app_iff. left. apply in_map, I.
Qed.
Lemma sum_of_items (h : item -> nat) l : in_items l -> sum (map (fun o => h (item_of o)) l) <= sum (map h items).
Proof.
  intros [[rest H] _]. assert (Q : forall a b, Permutation a b -> sum (map h a) = sum (map h b))
    by (intros a b Z; induction Z; simpl; lia).
  rewrite <- (Q _ _ H), map_app, sum_app, map_map. lia.
Qed.
Lemma sum_filter {A} (p : A -> bool) (h : A -> nat) l :
  sum (map h (filter p l)) = sum (map (fun x => if p x then h x else 0) l).
Proof. induction l as [|x l IH]; simpl; [reflexivity|]. destruct (p x); simpl; lia. Qed.

(* The longest time in which a stream has something left begins with one of its launches. *)
Definition takes_since (q x : nat) (o : operation) : nat :=
  if (stream o =? q) && (x <=? launched_at o) then takes_time top blocks o else 0.
Lemma in_turn_since q from l :
  (forall k o m, l = k ++ o :: m -> forall p, In p k -> launched_at p <= launched_at o) ->
  fold_left (in_turn top blocks q from) l 0 = 0 \/
  exists o, In o l /\ stream o = q /\ from <= launched_at o /\
    fold_left (in_turn top blocks q from) l 0 <= launched_at o + sum (map (takes_since q (launched_at o)) l).
Proof.
  induction l as [|o l IH] using rev_ind; intros S; [left; reflexivity|].
  assert (S' : forall k p m, l = k ++ p :: m -> forall x, In x k -> launched_at x <= launched_at p).
  { intros k p m -> x I. apply (S k p (m ++ [o])); [rewrite <- app_assoc; reflexivity|exact I]. }
  specialize (IH S'). rewrite fold_left_app. simpl. set (D := fold_left (in_turn top blocks q from) l 0) in *.
  unfold in_turn.
  assert (Old : D = 0 \/ exists p, In p (l ++ [o]) /\ stream p = q /\ from <= launched_at p /\
    D <= launched_at p + sum (map (takes_since q (launched_at p)) l) /\ launched_at p <= launched_at o).
  { destruct IH as [Z|(p & I & Q & F & L)]; [left; exact Z|right]. exists p. rewrite in_app_iff.
    repeat split; try tauto. apply (S l o [] eq_refl p I). }
  destruct (Nat.leb_spec from (launched_at o)) as [Fo|Fo], (Nat.eqb_spec (stream o) q) as [Q|Q]; simpl;
    try (destruct Old as [Z|(p & I & Qp & F & L & _)]; [left; exact Z|right]; exists p; repeat split; try assumption;
      rewrite map_app, sum_app; lia).
  right. assert (Own : forall x, x <= launched_at o -> sum (map (takes_since q x) (l ++ [o])) =
    sum (map (takes_since q x) l) + takes_time top blocks o).
  { intros x Lx. rewrite map_app, sum_app. simpl. unfold takes_since at 2. rewrite Q, Nat.eqb_refl.
    destruct (Nat.leb_spec x (launched_at o)); simpl; lia. }
  destruct (Nat.le_gt_cases D (launched_at o)) as [Le|Gt].
  - exists o. split; [apply in_app_iff; simpl; tauto|]. repeat split; try assumption. rewrite (Own _ (le_n _)). lia.
  - destruct Old as [Z|(p & I & Qp & F & L & Lp)]; [lia|]. exists p. repeat split; try assumption.
    rewrite (Own _ Lp). lia.
Qed.

(* What the checker looks at is all that the theorem asks for. *)
Lemma enough_by_then s q F l : begins s <= F -> F <= over_at_last s -> level_of g top q < top ->
  by_then (filter (fun i => is_upper i && (begins s <=? item_at i) && (item_at i <=? over_at_last s)) items) q F = true ->
  in_items l -> (forall o, In o l -> launched_at o <= F) ->
  all_sms * fold_left (in_turn top blocks q (begins s)) l 0 + work_since g top weight (begins s) l <= all_sms * F.
Proof.
  intros FF FU Lq H G Early. set (some := filter _ items) in *. unfold by_then in H. apply Nat.leb_le in H.
  set (ts := map (fun i => (i, time_of i)) (filter (fun i => item_stream i =? q) (filter (fun i => item_at i <=? F)
    some))) in *.
  assert (W : work_since g top weight (begins s) l <= sum (map work (filter (fun i => item_at i <=? F) some))).
  { subst some. rewrite !sum_filter.
    eapply Nat.le_trans; [|eapply Nat.le_trans; [apply (sum_of_items (fun i => if is_upper i && (begins s <=? item_at i) &&
      (item_at i <=? over_at_last s) then if item_at i <=? F then work i else 0 else 0) l G)|]].
    - unfold work_since. apply sum_le. intros o I. specialize (Early o I). unfold item_of. simpl.
      destruct (Nat.leb_spec (begins s) (launched_at o)); [|lia].
      destruct (Nat.leb_spec (launched_at o) (over_at_last s)); [|lia].
      destruct (Nat.leb_spec (launched_at o) F); [|lia]. rewrite !andb_true_r.
      change (work _) with (of_upper g top (work_of weight) o).
      change (is_upper _) with (upper g top o). unfold of_upper. destruct (upper g top o); lia.
    - apply sum_le. intros i _. lia. }
  assert (T : fold_left (in_turn top blocks q (begins s)) l 0 <= fold_left adds ts 0); [|nia].
  destruct (in_turn_since q (begins s) l (proj2 G)) as [Z|(o & I & Sq & Fo & L)]; [lia|].
  assert (Upper : forall i, item_stream i = q -> is_upper i = true).
  { intros i <-. unfold is_upper, above, upper. apply Nat.ltb_lt, Lq. }
  assert (Sum : sum (map (takes_since q (launched_at o)) l) <= sum_between (launched_at o) F ts).
  { eapply Nat.le_trans; [|eapply Nat.le_trans; [apply (sum_of_items (fun i => if (item_stream i =? q) &&
      (launched_at o <=? item_at i) && (item_at i <=? F) then time_of i else 0) l G)|]].
    - apply sum_le. intros p J. specialize (Early p J). unfold takes_since, item_of. simpl.
      destruct (Nat.leb_spec (launched_at p) F); [|lia]. rewrite andb_true_r. apply le_n.
    - unfold sum_between, ts, some. rewrite map_map. simpl. rewrite !sum_filter. apply sum_le. intros i _.
      destruct (Nat.eqb_spec (item_stream i) q) as [Q|Q]; simpl; [|lia]. rewrite (Upper i Q). simpl.
      destruct (Nat.leb_spec (launched_at o) (item_at i)), (Nat.leb_spec (item_at i) F),
        (Nat.leb_spec (begins s) (item_at i)), (Nat.leb_spec (item_at i) (over_at_last s)); simpl; lia. }
  assert (Member : launched_at o <= fold_left adds ts 0).
  { assert (In (item_of o, time_of (item_of o)) ts).
    { unfold ts. apply (in_map (fun i => (i, time_of i))). apply filter_In. split; [|apply Nat.eqb_eq, Sq].
      specialize (Early o I). apply filter_In. split; [|apply Nat.leb_le, Early]. apply filter_In.
      split; [apply (in_items_in l o G I)|]. rewrite (Upper (item_of o) Sq). simpl. apply andb_true_iff. rewrite !Nat.leb_le.
      split; [exact Fo|lia]. }
    clear - H0. change (launched_at o) with (item_at (fst (item_of o, time_of (item_of o)))).
    revert H0. generalize (item_of o, time_of (item_of o)) as x. generalize 0 as D.
    induction ts as [|y m IH]; intros D x J; [destruct J|]. simpl. destruct J as [->|J]; [|apply IH, J].
    destruct (adds_long 0 0 m (adds D x)) as (_ & _ & Z). unfold adds in Z at 1. lia. }
  destruct (adds_long (launched_at o) F ts 0) as (Z & _). lia.
Qed.

Lemma launched_somewhere xs t : steps g (empty g) xs t -> everywhere (fun o => In o (launches xs)) t.
Proof.
  revert xs t. apply (in_steps g (fun xs t => everywhere (fun o => In o (launches xs)) t)); [apply everywhere_empty|].
  intros xs t x u _ H E. rewrite launches_app. simpl. rewrite app_nil_r. eapply everywhere_step; [|exact H|].
  - eapply everywhere_weaker; [|exact E]. simpl. intros o I. apply in_app_iff. tauto.
  - intros o ->. apply in_app_iff. right. left. reflexivity.
Qed.

(* Once [last] has come, nothing of the upper streams is left that was launched before. *)
Definition idle_at (last : nat) : Prop := forall xs t, steps g (empty g) xs t -> in_items (launches xs) -> last <= now t ->
  everywhere (fun o => upper g top o = true -> last <= launched_at o) t.

Hypothesis Accepted : closedb g top kinds && enough_weight && all_alone = true.

Lemma over_in_span s F q : begins s <= F -> F <= over_at_last s -> level_of g top q < top ->
  existsb (fun i => item_stream i =? q)
    (filter (fun i => is_upper i && (begins s <=? item_at i) && (item_at i <=? over_at_last s)) items) = true ->
  by_then (filter (fun i => is_upper i && (begins s <=? item_at i) && (item_at i <=? over_at_last s)) items) q F = true ->
  idle_at (begins s) ->
  forall xs t, steps g (empty g) xs t -> in_items (launches xs) -> F < now t ->
  everywhere (fun o => stream o = q -> F < launched_at o) t.
Proof.
  intros FF FU Lq Some_q B Idle xs t. rewrite !andb_true_iff in Accepted. destruct Accepted as [[Cl En] Al].
  apply (over_by_weight g top blocks (mine kinds) (accepted_closed g top kinds Cl) weight all_sms (enough_is_heavy En) q)
    with (from := begins s) (good := in_items).
  - apply alone_streams; auto. apply existsb_exists in Some_q. destruct Some_q as (i & I & Q). apply filter_In in I.
    apply existsb_exists. exists (kind_at i). split; [apply in_map, I|exact Q].
  - apply prefix_in_items.
  - intros l o G I. apply (in_map kind_at items (item_of o)), (in_items_in l o G I).
  - exact Idle.
  - unfold enough_weight in En. rewrite !andb_true_iff, Nat.ltb_lt in En. apply En.
  - exact FF.
  - intros l G E. apply (enough_by_then s q F l FF FU Lq B G E).
Qed.

Lemma spans_hold all : forall last, spans last all = true -> idle_at last ->
  forall s j, In s all -> In j (shows s) -> job_at j <= Nat.min (over_at_last s) (job_due j) /\
  forall xs t, steps g (empty g) xs t -> in_items (launches xs) -> Nat.min (over_at_last s) (job_due j) < now t ->
  everywhere (fun o => stream o = job_stream j -> Nat.min (over_at_last s) (job_due j) < launched_at o) t.
Proof.
  induction all as [|s0 all IH]; intros last H Idle s j Is Ij; [destruct Is|]. simpl in H.
  set (some := filter (fun i => is_upper i && (begins s0 <=? item_at i) && (item_at i <=? over_at_last s0)) items) in *.
  rewrite !andb_true_iff, !Nat.leb_le in H. destruct H as [[[[[L M] Gap] By] Sh] Rest].
  rewrite !forallb_forall in Gap. rewrite forallb_forall in By, Sh.
  assert (Begin : idle_at (begins s0)).
  { intros xs t St G Now. assert (E := Idle xs t St G ltac:(lia)). assert (Ln := launched_somewhere xs t St).
    assert (Both : forall o, (upper g top o = true -> last <= launched_at o) -> In o (launches xs) ->
      upper g top o = true -> begins s0 <= launched_at o).
    { intros o A B Uo. specialize (A Uo). specialize (Gap _ (in_items_in _ o G B)).
      change (is_upper (item_of o)) with (upper g top o) in Gap. rewrite Uo in Gap. simpl in Gap.
      apply orb_true_iff in Gap. rewrite Nat.ltb_lt, Nat.leb_le in Gap. lia. }
    destruct E as [E1 E2 E3 E4], Ln as [L1 L2 L3 L4]. split; intros; apply Both; eauto. }
  assert (After : idle_at (S (over_at_last s0))).
  { intros xs t St G Now. assert (E := Begin xs t St G ltac:(lia)). assert (Ln := launched_somewhere xs t St).
    assert (Each : forall o, (upper g top o = true -> begins s0 <= launched_at o) -> In o (launches xs) ->
      (forall q, existsb (fun i => item_stream i =? q) some = true -> level_of g top q < top -> stream o = q ->
        over_at_last s0 < launched_at o) -> upper g top o = true -> S (over_at_last s0) <= launched_at o).
    { intros o A B Z Uo. specialize (A Uo). destruct (Nat.le_gt_cases (launched_at o) (over_at_last s0)) as [Le|Gt];
        [|exact Gt]. apply (Z (stream o)); [|unfold upper in Uo; apply Nat.ltb_lt, Uo|reflexivity].
      apply existsb_exists. exists (item_of o). split; [|apply Nat.eqb_refl]. unfold some. apply filter_In.
      split; [apply (in_items_in _ o G B)|]. change (is_upper (item_of o)) with (upper g top o). rewrite Uo. simpl.
      apply andb_true_iff. rewrite !Nat.leb_le. split; assumption. }
    assert (Over : forall q, existsb (fun i => item_stream i =? q) some = true -> level_of g top q < top ->
      everywhere (fun o => stream o = q -> over_at_last s0 < launched_at o) t).
    { intros q Q Lq. apply (over_in_span s0 (over_at_last s0) q M (le_n _) Lq Q) with (xs := xs); try assumption.
      assert (I : In q (seq 0 (length (streams g)))).
      { apply in_seq. split; [lia|]. apply nth_error_Some. unfold level_of in Lq.
        destruct (nth_error (streams g) q); [congruence|lia]. }
      specialize (By q I). fold some. rewrite Q in By. exact By. }
    destruct E as [E1 E2 E3 E4], Ln as [L1 L2 L3 L4].
    split; [intros q k o A B; apply (Each o)|intros l k x A B; apply (Each (fst x))|intros e k o A B; apply (Each o)|
      intros r A; apply (Each (of r))]; eauto; intros q' Q Lq; destruct (Over q' Q Lq); eauto. }
  destruct Is as [<-|Is]; [|apply (IH _ Rest After s j Is Ij)].
  specialize (Sh j Ij). unfold shows_job in Sh. rewrite !andb_true_iff, !Nat.leb_le, Nat.ltb_lt in Sh.
  destruct Sh as [[[[Lv Q] Fb] At] B]. split; [exact At|]. intros xs t St G Late.
  apply (over_in_span s0 (Nat.min (over_at_last s0) (job_due j)) (job_stream j) Fb ltac:(lia) Lv Q B Begin xs t St G Late).
Qed.
End Sharing.

(* In every run that launches some or all of the items, in any order of what is launched at one instant, all that the
   stream of a job that is shown launches until its time is up is over then. *)
Lemma over_as_shown : forall g top items scale weights all, accept_shared g top items scale weights all = true ->
  forall s j, In s all -> In j (shows s) -> job_at j <= Nat.min (over_at_last s) (job_due j) /\
  forall xs t rest, steps g (empty g) xs t -> Permutation (map item_of (launches xs) ++ rest) items ->
  Nat.min (over_at_last s) (job_due j) < now t ->
  everywhere (fun o => stream o = job_stream j -> Nat.min (over_at_last s) (job_due j) < launched_at o) t.
Proof.
  intros g top items scale weights all H s j Is Ij. unfold accept_shared in H. rewrite andb_true_iff in H.
  destruct H as [A W]. destruct (spans_hold g top items scale weights A all 0 W) with (s := s) (j := j) as [At Ov];
    try assumption.
  - intros ys u _ _ _. apply (everywhere_weaker (fun _ => True)); [intros; apply Nat.le_0_l|]. split; auto.
  - split; [exact At|]. intros xs t rest St Perm Late. apply (Ov xs t St); [|exact Late].
    split; [exists rest; exact Perm|]. apply (sound_sorted g (fun _ => True) _ t).
    apply (sound_run g _ xs t St). auto.
Qed.
(* So all of a job is over once its time is up. *)
Theorem accepted_shares_hold : forall g top items scale weights all, accept_shared g top items scale weights all = true ->
  forall s j, In s all -> In j (shows s) ->
  forall xs t rest, steps g (empty g) xs t -> Permutation (map item_of (launches xs) ++ rest) items ->
  job_due j < now t ->
  everywhere (fun o => ~ (stream o = job_stream j /\ launched_at o = job_at j)) t.
Proof.
  intros g top items scale weights all H s j Is Ij xs t rest St Perm Late.
  destruct (over_as_shown g top items scale weights all H s j Is Ij) as [At Ov].
  eapply everywhere_weaker; [|apply (Ov xs t rest St Perm); lia]. simpl. intros o L [So Lo]. specialize (L So). lia.
Qed.
