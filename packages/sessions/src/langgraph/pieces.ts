/** The pieces of a segment, by number. A new line names those that are there already, and brings the others. */
import type { CheckpointLine } from "./lines.ts"
import { MissingBase, Piece, type Placed, type Places, type Stored } from "./nodes.ts"

const LINE_BYTES = 350 // of the fields that every line has

export class Pieces implements Placed {
  readonly #pieces: Piece[] = []
  readonly #numbers = new Map<string, number>()
  #numbered = 0

  get next(): number {
    return this.#pieces.length
  }

  /** `pieces`: those of the line, where they are at hand. */
  take({ first, values }: Pick<CheckpointLine, "first" | "values">, pieces?: readonly Piece[]): void {
    for (const [at, stored] of values.entries()) this.#pieces[first + at] = pieces?.[at] ?? new Piece(stored)
  }

  piece(number: number): Piece {
    const piece = this.#pieces[number]
    if (!piece) throw new MissingBase()
    return piece
  }

  /** Hashes are made when the first is asked for: who only reads needs none. */
  numberOf(piece: Piece): number | undefined {
    for (; this.#numbered < this.#pieces.length; this.#numbered++) {
      const each = this.#pieces[this.#numbered]
      if (each && !this.#numbers.has(each.key)) this.#numbers.set(each.key, this.#numbered)
    }
    return this.#numbers.get(piece.key)
  }
}

export class NewPieces implements Places {
  readonly added: Piece[] = []
  readonly #before: Pieces
  readonly #first: number
  readonly #numbers = new Map<string, number>()

  constructor(before: Pieces) {
    this.#before = before
    this.#first = before.next
  }

  place(piece: Piece): number | Stored {
    if (piece.isSmall) return piece.stored
    const known = this.#before.numberOf(piece) ?? this.#numbers.get(piece.key)
    if (known !== undefined) return known
    const number = this.#first + this.added.length
    this.#numbers.set(piece.key, number)
    this.added.push(piece)
    return number
  }

  /** What the line says of them. `rest`: what else it has; `bytes`: of the segment before it. */
  brought(rest: unknown, bytes: number): Pick<CheckpointLine, "first" | "values" | "bytes"> {
    const own = this.added.reduce((sum, piece) => sum + piece.bytes, JSON.stringify(rest).length + LINE_BYTES)
    return { first: this.#first, values: this.added.map(({ stored }) => stored), bytes: bytes + own }
  }
}
