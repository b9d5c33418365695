(* A checker of certificates where releases are not given, and what follows once it accepts one: jobs of a stream arrive
   a period or more apart, and each is released, all of it at once, up to a jitter after it arrived. *)
From Coq Require Import List Arith Bool Lia Permutation.
Import ListNotations.
From gpusched Require Import model lists usage progress capacity serial closed busy waits certificate arrivals.

(* How many jobs of a task can be launched in the window, and how much each of them adds. *)
Record share := Share { jobs : nat; of_job : nat }.

Section Window.
Variables (g : device) (top : nat) (tasks : list task) (w : nat).

Definition task_kinds : list kind := flat_map (fun k => map (pair (task_stream k)) (works k)) tasks.
Let blocks (l : nat) : nat := nth l (table g top task_kinds) 0.
Definition adds_of (t : list nat) (k : task) : nat :=
  sum (map (fun what => of_upper g top (full g top (fun l => nth l t 0)) (of_kind (task_stream k, what))) (works k)).
Definition jobs_within (k : task) : nat := (w + jitter k) / period k + 1.
Definition is_upper (k : task) : bool := level_of g top (task_stream k) <? top.

(* Each task of the upper streams has its share. *)
Fixpoint enough_shares (t : list nat) (all : list task) (shares : list share) : bool :=
  match all, shares with
  | [], [] => true
  | [], _ => false
  | k :: rest, _ =>
      if is_upper k then
        match shares with
        | [] => false
        | s :: shares =>
            (0 <? period k) && (jobs_within k <=? jobs s) && (adds_of t k <=? of_job s) && enough_shares t rest shares
        end
      else enough_shares t rest shares
  end.
(* That a job of this task is over so long after it arrived. *)
Definition proves_task (claim : nat * nat) : bool :=
  match nth_error tasks (fst claim) with Some k => is_upper k && (jitter k + w <=? snd claim) | None => false end.
Definition accept_window (shares : list share) (claims : list (nat * nat)) : bool :=
  closedb g top task_kinds && enough_shares (table g top task_kinds) tasks shares
  && (sum (map (fun s => jobs s * of_job s) shares) <=? w) && forallb proves_task claims.

Lemma shares_are_enough all : forall shares, enough_shares (table g top task_kinds) all shares = true ->
  (forall k, In k all -> is_upper k = true -> 0 < period k) /\
  sum (map (fun k => jobs_within k * adds_of (table g top task_kinds) k) all) <=
  sum (map (fun s => jobs s * of_job s) shares).
Proof.
  induction all as [|k all IH]; intros shares H; simpl in *.
  - destruct shares; [|discriminate H]. split; [intros k []|apply le_n].
  - destruct (is_upper k) eqn:U.
    + destruct shares as [|s shares]; [discriminate H|]. rewrite !andb_true_iff, !Nat.leb_le, Nat.ltb_lt in H.
      destruct H as [[[Z J] A] H]. destruct (IH _ H) as [P S]. split; [intros j [<-|I]; auto|].
      simpl. assert (M := Nat.mul_le_mono _ _ _ _ J A). lia.
    + destruct (IH _ H) as [P S]. split; [intros j [<-|I]; [congruence|auto]|].
      assert (Z : adds_of (table g top task_kinds) k = 0); [|rewrite Z; lia]. unfold adds_of. apply sum_none.
      intros what _. unfold of_upper, upper. simpl. unfold is_upper in U. rewrite U. reflexivity.
Qed.

Lemma demand_of_tasks shares x ops rest all : enough_shares (table g top task_kinds) tasks shares = true ->
  arrive_so tasks all -> Permutation (map item_of ops ++ rest) (flat_map (launched_by tasks) all) ->
  demand g top blocks x (x + w) ops <= sum (map (fun s => jobs s * of_job s) shares).
Proof.
  intros En So Perm. destruct (shares_are_enough tasks shares En) as [Pos Sum].
  eapply Nat.le_trans; [eapply demand_of_launched, Perm|]. eapply Nat.le_trans; [|exact Sum]. rewrite of_launches.
  set (t := table g top task_kinds) in *.
  apply (of_all_tasks tasks (fun k r => sum (map (fun what => between g top blocks x (x + w)
    (Item (task_stream k) r what)) (works k)))); [exact So|].
  intros k l Ik F R. destruct (is_upper k) eqn:U.
  - eapply Nat.le_trans; [|eapply Nat.le_trans; [apply (of_one_task (period k) (jitter k) x 0 w (adds_of t k) l F R), Pos|]].
    + apply sum_le. intros a _. rewrite Nat.add_0_r. unfold between, adds_of. simpl.
      destruct ((x <=? released a) && (released a <=? x + w)); [apply le_n|]. rewrite sum_none; [apply le_n|reflexivity].
    + exact Ik.
    + exact U.
    + unfold jobs_within. rewrite Nat.add_0_r. apply le_n.
  - rewrite sum_none; [lia|]. intros a _. apply sum_none. intros what _. unfold between, of_upper, upper. simpl.
    unfold is_upper in U. rewrite U. destruct (_ && _); reflexivity.
Qed.

Lemma over_in_window shares claims all : accept_window shares claims = true -> arrive_so tasks all ->
  forall xs s rest, steps g (empty g) xs s ->
  Permutation (map item_of (launches xs) ++ rest) (flat_map (launched_by tasks) all) ->
  everywhere (fun o => upper g top o = true -> now s <= launched_at o + w) s.
Proof.
  intros H So xs s rest St Perm. unfold accept_window in H. rewrite !andb_true_iff, Nat.leb_le in H.
  destruct H as [[[Cl En] Sum] _].
  apply (over_within g top blocks (mine task_kinds) (accepted_closed g top task_kinds Cl) w xs s St).
  - intros o I. assert (J : In (item_of o) (flat_map (launched_by tasks) all)).
    { eapply Permutation_in; [exact Perm|]. apply in_app_iff. left. apply in_map, I. }
    apply in_flat_map in J. destruct J as (b & _ & J). unfold launched_by in J.
    destruct (nth_error tasks (task_of b)) as [j|] eqn:Ej; [|destruct J]. apply in_map_iff in J.
    destruct J as (what & Z & J). unfold mine, kind_of. unfold item_of in Z. injection Z as <- _ <-.
    apply in_flat_map. exists j. split; [apply (nth_error_In _ _ Ej)|]. apply in_map, J.
  - intros o _ _. eapply Nat.le_trans; [eapply demand_of_tasks; eassumption|exact Sum].
Qed.

Theorem accepted_windows_hold : forall shares claims, accept_window shares claims = true -> over_as_claimed g tasks claims.
Proof.
  intros shares claims H n bound k Ic Ek all So xs s rest St Perm a Ia Na Late.
  assert (Ov := over_in_window shares claims all H So xs s rest St Perm).
  unfold accept_window in H. rewrite !andb_true_iff, forallb_forall in H.
  destruct H as [_ Pr]. specialize (Pr _ Ic). unfold proves_task in Pr. simpl in Pr. rewrite Ek in Pr.
  apply andb_true_iff in Pr. destruct Pr as [U Le]. apply Nat.leb_le in Le.
  rewrite <- Na in Ek. destruct (proj1 So a k Ia Ek) as [_ R].
  eapply everywhere_weaker; [|exact Ov]. simpl. intros o H [S L].
  assert (Uo : upper g top o = true) by (unfold upper; rewrite S; exact U). specialize (H Uo). lia.
Qed.
End Window.
