(* The same program, faster where much runs: what was assigned last is kept apart, the newest first, so that a block is
   assigned without a look at all that runs. *)
From Coq Require Import List Arith Bool.
Import ListNotations.
From gpusched Require Import model executable.

Record fast := Fast { older : state; newest : list run }.
Definition with_running (s : state) (l : list run) : state :=
  State (now s) (turn s) (launched s) (queues s) (ee s) (ce s) l (free s).
(* The state that it stands for. *)
Definition whole (f : fast) : state :=
  match newest f with
  | [] => older f
  | _ => with_running (older f) (running (older f) ++ rev_append (newest f) [])
  end.

Definition no_copy_waits (s : state) : bool :=
  forallb (fun k : list operation => match k with [] => true | _ => false end) (ce s).
Definition exec_slowly (g : device) (f : fast) (x : label) : option fast :=
  match exec g (whole f) x with Some t => Some (Fast t []) | None => None end.
Definition exec_fast (g : device) (f : fast) (x : label) : option fast :=
  let s := older f in
  match x with
  | Assign o i d =>
      if no_copy_waits s then
        match next_from 0 (ee s), what o, nth_error (free s) i with
        | Some (l, (h, S n), rest), Kernel _ need lasts, Some room =>
            if dispatching s && operation_eqb h o && fitsb need room && may_useb g o i && withinb d lasts then
              Some (Fast (State (now s) (turn s) (launched s) (queues s) (update l (G3 o n rest) (ee s)) (ce s)
                                (running s) (update i (minus room need) (free s)))
                         (Run o (Sm i) (now s + d) :: newest f))
            else None
        | _, _, _ => None
        end
      else exec_slowly g f x
  | _ => exec_slowly g f x
  end.

Lemma whole_running f : whole f = with_running (older f) (running (older f) ++ rev (newest f)).
Proof.
  unfold whole. rewrite rev_alt. destruct f as [[n t l q e c r fr] [|x new]]; [|reflexivity].
  unfold with_running. simpl. rewrite app_nil_r. reflexivity.
Qed.
Lemma no_copy_waits_begins s r : no_copy_waits s = true -> no_copy_beginsb (with_running s r) = true.
Proof.
  unfold no_copy_waits, no_copy_beginsb. simpl. generalize 0. induction (ce s) as [|k l IH]; intros e H; [reflexivity|].
  simpl in *. destruct k; [|discriminate H]. apply IH, H.
Qed.

(* It does what the program does that follows the rules. *)
Theorem fast_is_exec g f x :
  match exec_fast g f x with Some t => exec g (whole f) x = Some (whole t) | None => exec g (whole f) x = None end.
Proof.
  assert (Slow : match exec_slowly g f x with
    | Some t => exec g (whole f) x = Some (whole t) | None => exec g (whole f) x = None end).
  { unfold exec_slowly. destruct (exec g (whole f) x) as [t|]; [|reflexivity]. destruct t; reflexivity. }
  destruct x as [o|o|o d|o i d|o p| | | |t]; try exact Slow. simpl.
  destruct (no_copy_waits (older f)) eqn:C; [|exact Slow]. clear Slow.
  assert (B := no_copy_waits_begins (older f) (running (older f) ++ rev (newest f)) C).
  rewrite whole_running, B. simpl.
  destruct (next_from 0 (ee (older f))) as [[[l [h [|n]]] rest]|]; try reflexivity.
  destruct (what o) as [b need lasts| | |]; try reflexivity.
  destruct (nth_error (free (older f)) i) as [room|]; try reflexivity. rewrite andb_true_r.
  change (dispatching (with_running (older f) (running (older f) ++ rev (newest f)))) with (dispatching (older f)).
  destruct (dispatching (older f) && operation_eqb h o && fitsb need room && may_useb g o i && withinb d lasts);
    [|reflexivity].
  rewrite whole_running. simpl. unfold with_running. simpl. rewrite app_assoc. reflexivity.
Qed.
