(** * Games, the positions that an opponent can bring about, and what is claimed

    Whoever trusts these definitions and Coq's kernel need not trust any program of this
    project.

    To read it: [f x y] is the value of a function [f], [fun x => ...] a function without
    a name, and [r.(width)] a field of a record. [Some x] is [x], and [None] is nothing.
    [In x l] says that [x] is in the list [l], and [[]] is the empty list. A [Prop] is a
    statement: [forall], [/\], [->] and [<>] are for all, and, implies, and is not. *)

From Coq Require Import Arith List.
Import ListNotations.

(** Two players take turns; X makes the first move. *)
Inductive player := X | O.

Definition other (p : player) : player := match p with X => O | O => X end.

Definition is_player (p q : player) : bool :=
  match p, q with X, X | O, O => true | _, _ => false end.

(** The rules of a game. A move is a number. A position without legal moves has ended;
    a game that has ended without a winner is drawn. *)
Record game {position : Type} := {
  start : position;
  mover : position -> player;
  moves : position -> list nat;
  play : position -> nat -> position;
  winner : position -> option player
}.
Arguments game : clear implicits.

Section Claims.
  Context {position : Type} (rules : game position).

  (** The agent's seat, and its move in each position where it is to move. *)
  Variables (agent : player) (strategy : position -> nat).

  (** A position comes up if it is the start, or a legal move leads to it from one that
      comes up: any move of the opponent, and the agent's own. *)
  Inductive reach : position -> Prop :=
  | reach_start : reach rules.(start)
  | reach_move : forall p m,
      reach p -> In m (rules.(moves) p) -> (rules.(mover) p = agent -> m = strategy p) ->
      reach (rules.(play) p m).

  (** Whatever the opponent plays, the agent plays a legal move where it must move, and
      the opponent never wins. *)
  Definition never_loses : Prop :=
    forall p, reach p ->
      rules.(winner) p <> Some (other agent)
      /\ (rules.(mover) p = agent -> rules.(moves) p <> [] ->
          In (strategy p) (rules.(moves) p)).

  (** Moreover, each game that ends is won by the agent. *)
  Definition wins_every_game : Prop :=
    never_loses
    /\ forall p, reach p -> rules.(moves) p = [] -> rules.(winner) p = Some agent.
End Claims.

(** ** Rows of stones: tic-tac-toe and Connect Four

    Each move adds a stone, so all games end. *)

Inductive cell := Free | Stone (p : player).

(** The cells, row by row from the top. *)
Definition board := list cell.

(** Columns, rows, stones in a row that win; and whether a move is a column, in which the
    stone falls, or a cell. *)
Record shape := { width : nat; height : nat; in_a_row : nat; falls : bool }.

(** The cells of each row of stones: across, down, and diagonally. *)
Definition rows (s : shape) : list (list nat) :=
  let row cell_at := map (fun n => let '(x, y) := cell_at n in y * s.(width) + x)
                         (seq 0 s.(in_a_row)) in
  let rows_from x y :=
    let across := x + s.(in_a_row) <=? s.(width) in
    let down := y + s.(in_a_row) <=? s.(height) in
    (if across then [row (fun n => (x + n, y))] else [])
    ++ (if down then [row (fun n => (x, y + n))] else [])
    ++ (if (across && down)%bool
        then [row (fun n => (x + n, y + n)); row (fun n => (x + n, y + in_a_row s - 1 - n))]
        else []) in
  flat_map (fun y => flat_map (fun x => rows_from x y) (seq 0 s.(width))) (seq 0 s.(height)).

Definition is_free (c : cell) : bool := match c with Free => true | Stone _ => false end.

Definition is_stone (p : player) (c : cell) : bool :=
  match c with Free => false | Stone q => is_player p q end.

(** X has as many stones as O when X is to move. *)
Definition mover_of (b : board) : player :=
  if Nat.even (length (filter (fun c => negb (is_free c)) b)) then X else O.

(** The cell that a move fills, if it is legal: in a column, the lowest free one. *)
Definition landing (s : shape) (b : board) (m : nat) : option nat :=
  find (fun i => is_free (nth i b (Stone X)))
       (if s.(falls) then map (fun y => y * s.(width) + m) (rev (seq 0 s.(height))) else [m]).

(** The board with another content of one cell. *)
Definition put (b : board) (i : nat) (c : cell) : board := firstn i b ++ c :: skipn (S i) b.

(** Whoever has a row has won. Then, or on a full board, there is no move. *)
Definition stones_in_a_row (s : shape) : game board :=
  let lines := rows s in
  let has_row p b := existsb (forallb (fun i => is_stone p (nth i b Free))) lines in
  let winner_of b := if has_row X b then Some X else if has_row O b then Some O else None in
  let columns_or_cells := seq 0 (if s.(falls) then s.(width) else s.(width) * s.(height)) in
  let is_legal b m := match landing s b m with Some _ => true | None => false end in
  {| start := repeat Free (s.(width) * s.(height));
     mover := mover_of;
     moves b := match winner_of b with
                | Some _ => []
                | None => filter (is_legal b) columns_or_cells
                end;
     play b m := match landing s b m with
                 | Some i => put b i (Stone (mover_of b))
                 | None => b
                 end;
     winner := winner_of |}.

Definition tic_tac_toe := {| width := 3; height := 3; in_a_row := 3; falls := false |}.

Definition connect (columns height : nat) :=
  {| width := columns; height := height; in_a_row := 4; falls := true |}.
