(* Where merging the SMs is not exact: two kernels whose blocks are unequal, by computation. *)
From Coq Require Import List.
Import ListNotations.
From gpusched Require Import model executable follows pooled.

(* [n] SMs of [threads] threads, two streams without priorities that N1 and N2 do not concern, beside the NULL stream.
   *)
Definition gpu (n threads : nat) : device :=
  Device (repeat (Res threads threads 0 0) n) 0 1 [Stream 0 true; Stream 0 false; Stream 0 false] [].
(* Two blocks of one thread each, and one block of two; each runs for 1 ns. *)
Definition narrow : operation := Op 0 1 0 (Kernel 2 (Res 1 1 0 0) (Range 1 1)).
Definition wide : operation := Op 1 2 0 (Kernel 1 (Res 2 1 0 0) (Range 1 1)).
Definition beginning : list label := [HostsTurn; Launch narrow; GoOn narrow; Launch wide; GoOn wide; DispatchTurn].

Definition side_by_side : list label :=
  beginning ++ [Assign narrow 0 1; Assign narrow 1 1; Until 1; End narrow (Sm 0); End narrow (Sm 1); HostsTurn;
                DispatchTurn; Assign wide 0 1].
Definition together (sm : nat) : list label := beginning ++ [Assign narrow 0 1; Assign narrow 0 1; Assign wide sm 1].

(* On two SMs of two threads the wide block waits if the narrow ones are on different SMs; on one SM of four threads,
   and
   with both narrow blocks on one of two, it does not. *)
Theorem unequal_blocks_are_not_exact :
  (exists t, steps (gpu 2 2) (empty (gpu 2 2)) side_by_side t) /\
  (exists t, steps (gpu 2 2) (empty (gpu 2 2)) (together 1) t) /\
  (exists t, steps (gpu 1 4) (empty (gpu 1 4)) (together 0) t) /\
  map start (assigned 0 side_by_side) = [0; 0; 1] /\
  map start (assigned 0 (together 1)) = [0; 0; 0] /\ map start (assigned 0 (together 0)) = [0; 0; 0].
Proof.
  split; [|split; [|split; [|repeat split]]];
    (eexists; eapply accepted_runs_follow_the_rules; vm_compute; reflexivity).
Qed.

(* Where a block runs shorter, another may start later: one SM of two threads, blocks of one thread each. [first] and [two]
   are in one stream, [late] is launched at 1 into the other. If [first] runs for 2 ns, [late] starts at once; if it runs
   for 1 ns, [two] is before it. *)
Definition first_of (what : work) : operation := Op 0 1 0 what.
Definition first : operation := first_of (Kernel 1 (Res 1 1 0 0) (Range 1 2)).
Definition two : operation := Op 1 1 0 (Kernel 2 (Res 1 1 0 0) (Range 3 3)).
Definition late : operation := Op 2 2 1 (Kernel 1 (Res 1 1 0 0) (Range 1 1)).
Definition as_stated : list label :=
  [HostsTurn; Launch first; GoOn first; Launch two; DispatchTurn; Assign first 0 2; Until 1; HostsTurn; Launch late;
   GoOn late; DispatchTurn; Assign late 0 1; Until 2; End first (Sm 0); GoOn two; End late (Sm 0); HostsTurn;
   DispatchTurn; Assign two 0 3; Assign two 0 3].
Definition shorter_first : list label :=
  [HostsTurn; Launch first; GoOn first; Launch two; DispatchTurn; Assign first 0 1; Until 1; End first (Sm 0); GoOn two;
   HostsTurn; Launch late; GoOn late; DispatchTurn; Assign two 0 3; Assign two 0 3; Until 4; End two (Sm 0);
   End two (Sm 0); HostsTurn; DispatchTurn; Assign late 0 1].
Theorem shorter_blocks_in_chains_may_delay :
  (exists t, steps (gpu 1 2) (empty (gpu 1 2)) as_stated t) /\
  (exists t, steps (gpu 1 2) (empty (gpu 1 2)) shorter_first t) /\
  map start (assigned 0 as_stated) = [0; 1; 2; 2] /\ map start (assigned 0 shorter_first) = [0; 1; 1; 4].
Proof.
  split; [|split; [|repeat split]]; (eexists; eapply accepted_runs_follow_the_rules; vm_compute; reflexivity).
Qed.

(* The same with a copy first, where two threads are two blocks of one kernel. *)
Definition with_engine : device := Device [Res 2 2 0 0] 1 1 [Stream 0 true; Stream 0 false; Stream 0 false] [].
Definition copied : operation := first_of (Copy 0 (Range 1 2)).
Definition copied_as_stated : list label :=
  [HostsTurn; Launch copied; GoOn copied; Launch two; DispatchTurn; Begin copied 2; Until 1; HostsTurn; Launch late;
   GoOn late; DispatchTurn; Assign late 0 1; Until 2; End copied (Engine 0); GoOn two; End late (Sm 0); HostsTurn;
   DispatchTurn; Assign two 0 3; Assign two 0 3].
Definition shorter_copy : list label :=
  [HostsTurn; Launch copied; GoOn copied; Launch two; DispatchTurn; Begin copied 1; Until 1; End copied (Engine 0);
   GoOn two; HostsTurn; Launch late; GoOn late; DispatchTurn; Assign two 0 3; Assign two 0 3; Until 4; End two (Sm 0);
   End two (Sm 0); HostsTurn; DispatchTurn; Assign late 0 1].
Theorem shorter_copies_may_delay :
  (exists t, steps with_engine (empty with_engine) copied_as_stated t) /\
  (exists t, steps with_engine (empty with_engine) shorter_copy t) /\
  map start (assigned 0 copied_as_stated) = [1; 2; 2] /\ map start (assigned 0 shorter_copy) = [1; 1; 4].
Proof.
  split; [|split; [|repeat split]]; (eexists; eapply accepted_runs_follow_the_rules; vm_compute; reflexivity).
Qed.
