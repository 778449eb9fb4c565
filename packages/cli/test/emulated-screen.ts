/**
 * An emulated terminal screen for captures: it processes the output of a program and knows the visible rows and their styles. It behaves
 * like most modern terminals: wrapped lines are rewrapped when the width changes, and rows that leave the top are preserved.
 */
import { inspect } from "node:util"
import { widthOf } from "../src/display/text.ts"

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/** Text with the same styles, named as in `util.inspect.colors`. */
export interface StyledText {
  readonly text: string
  readonly styles: readonly string[]
}

interface Row {
  readonly cells: StyledText[]
  /** Continues in the next row, because the text was too wide. */
  isBroken: boolean
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what controls a terminal begins with it
const SEQUENCE = /^\u001b\[([?>]?)([\d;]*)([A-Za-z])/
const graphemes = new Intl.Segmenter()
const BLANK: StyledText = { text: " ", styles: [] }
const emptyRow = (): Row => ({ cells: [], isBroken: false })
const textOf = ({ cells }: Row): string => cells.map(({ text }) => text).join("")

export class EmulatedScreen {
  #size: ScreenSize
  #rows: Row[] = [emptyRow()]
  #past: Row[] = []
  #row = 0
  #column = 0
  /** Styles of the text that follows. */
  #styles: readonly string[] = []
  /** The primary screen, while the alternate one is shown. */
  #usual: { readonly rows: Row[]; readonly past: Row[]; readonly row: number; readonly column: number } | undefined
  /** Final letters of all sequences so far, with `?` for modes. */
  readonly sequences = new Set<string>()
  /** Parameters of colours and styles so far. */
  readonly styles = new Set<string>()
  /** Texts that did not fit into a row. */
  readonly tooWide: string[] = []

  constructor(size: ScreenSize) {
    this.#size = size
  }

  /** The visible rows, without trailing blanks. */
  rows(): readonly string[] {
    return this.#rows.map((row) => textOf(row).trimEnd())
  }

  /** The visible rows as runs of cells with the same styles. */
  styledRows(): readonly (readonly StyledText[])[] {
    return this.#rows.map(({ cells }) => joinRuns(cells))
  }

  /** The scrollback and the visible rows. */
  everything(): readonly string[] {
    return [...this.#past.map((row) => textOf(row).trimEnd()), ...this.rows()]
  }

  write(text: string): void {
    let rest = text
    while (rest !== "") {
      if (rest.startsWith("\u001b")) {
        const found = SEQUENCE.exec(rest)
        if (!found) throw new Error(`The screen does not know ${JSON.stringify(rest.slice(0, 12))}.`)
        this.#obey(found)
        rest = rest.slice(found[0].length)
        continue
      }
      const end = rest.indexOf("\u001b")
      const plain = end < 0 ? rest : rest.slice(0, end)
      for (const { segment } of graphemes.segment(plain)) this.#put(segment)
      rest = rest.slice(plain.length)
    }
  }

  #put(letter: string): void {
    if (letter === "\r") this.#column = 0
    else if (letter === "\n" || letter === "\r\n") this.#nextRow()
    else this.#print(letter)
  }

  #print(letter: string): void {
    const width = widthOf(letter)
    if (this.#column + width > this.#size.columns) {
      this.tooWide.push(textOf(this.#rows[this.#row]!))
      this.#rows[this.#row]!.isBroken = true
      this.#nextRow()
    }
    const { cells } = this.#rows[this.#row]!
    while (cells.length < this.#column) cells.push(BLANK)
    cells[this.#column] = { text: letter, styles: this.#styles }
    if (width === 2) cells[this.#column + 1] = { text: "", styles: this.#styles }
    this.#column += width
  }

  #nextRow(): void {
    this.#column = 0
    this.#row++
    if (this.#row === this.#rows.length) this.#rows.push(emptyRow())
    this.#scroll()
  }

  #scroll(): void {
    while (this.#rows.length > this.#size.rows) {
      this.#past.push(this.#rows.shift()!)
      this.#row--
    }
  }

  #obey([sequence, mark = "", given = "", letter = ""]: RegExpExecArray): void {
    this.sequences.add(mark + letter)
    const count = Math.max(1, Number(given.split(";")[0] || 1))
    const row = () => this.#rows[this.#row]!
    const move = (row: number, column: number) => {
      this.#row = Math.max(0, Math.min(this.#rows.length - 1, row))
      this.#column = Math.max(0, Math.min(this.#size.columns - 1, column))
    }
    const acts: Readonly<Record<string, () => void>> = {
      m: () => {
        this.styles.add(given)
        for (const code of given.split(";")) this.#styles = stylesAfter(this.#styles, Number(code))
      },
      A: () => move(this.#row - count, this.#column),
      B: () => move(this.#row + count, this.#column),
      C: () => move(this.#row, this.#column + count),
      G: () => move(this.#row, count - 1),
      H: () => move(0, 0),
      J: () => this.#clear(Number(given || 0)),
      K: () => {
        row().cells.splice(given === "2" ? 0 : this.#column)
        row().isBroken = false
      },
      "?h": () => given === "1049" && this.#openSecond(),
      "?l": () => given === "1049" && this.#closeSecond(),
    }
    const act = acts[mark + letter]
    if (!act) throw new Error(`The screen does not know ${JSON.stringify(sequence)}.`)
    act()
  }

  #clear(what: number): void {
    if (what === 3) this.#past = []
    else if (what === 2) this.#rows = this.#rows.map(emptyRow)
    else {
      this.#rows[this.#row]!.cells.splice(this.#column)
      this.#rows[this.#row]!.isBroken = false
      this.#rows.length = this.#row + 1
    }
  }

  #openSecond(): void {
    this.#usual ??= { rows: this.#rows, past: this.#past, row: this.#row, column: this.#column }
    this.#rows = [emptyRow()]
    this.#past = []
    this.#row = this.#column = 0
  }

  #closeSecond(): void {
    if (!this.#usual) return
    this.#rows = this.#usual.rows
    this.#past = this.#usual.past
    this.#row = this.#usual.row
    this.#column = this.#usual.column
    this.#usual = undefined
    this.#breakAgain()
  }

  resize(size: ScreenSize): void {
    this.#size = size
    if (this.#usual) {
      for (const { cells } of this.#rows) cells.length = Math.min(cells.length, size.columns)
      this.#rows.length = Math.min(this.#rows.length, size.rows)
      this.#row = Math.min(this.#row, this.#rows.length - 1)
    } else this.#breakAgain()
  }

  /** Rewraps all lines of the primary screen to the current width. The cursor stays on its line. */
  #breakAgain(): void {
    const all = [...this.#past, ...this.#rows]
    const at = this.#past.length + this.#row
    const broken: Row[] = []
    let cursor = 0
    for (let first = 0; first < all.length; ) {
      let last = first
      while (all[last]!.isBroken && last + 1 < all.length) last++
      if (at >= first && at <= last) cursor = broken.length
      broken.push(
        ...rowsOf(
          all.slice(first, last + 1).flatMap(({ cells }) => cells),
          this.#size.columns,
        ),
      )
      first = last + 1
    }
    this.#past = []
    this.#rows = broken
    this.#row = cursor
    while (this.#rows.length - 1 > cursor && textOf(this.#rows.at(-1)!).trim() === "") this.#rows.pop()
    this.#scroll()
  }
}

/** The styles after a code that starts or ends some of them. Code 0 ends all. */
function stylesAfter(styles: readonly string[], code: number): readonly string[] {
  const rest = styles.filter((style) => code !== 0 && inspect.colors[style]![1] !== code)
  const started = Object.entries(inspect.colors).find(([, codes]) => codes![0] === code)
  if (!started || code === 0) return rest
  const [name, codes] = started
  const isColour = name !== "bold" && name !== "dim" // these two have the same end, but can be combined
  return [...rest.filter((style) => style !== name && !(isColour && inspect.colors[style]![1] === codes![1])), name]
}

function joinRuns(cells: readonly StyledText[]): readonly StyledText[] {
  const runs: StyledText[] = []
  for (const { text, styles } of cells) {
    const last = runs.at(-1)
    if (last && last.styles.join() === styles.join()) runs[runs.length - 1] = { text: last.text + text, styles }
    else runs.push({ text, styles })
  }
  return runs
}

/** Splits a line into rows of a number of columns. */
function rowsOf(cells: readonly StyledText[], columns: number): readonly Row[] {
  const end = cells.findLastIndex(({ text }) => text !== " ") + 1
  const rows: Row[] = []
  for (let from = 0; from < end || rows.length === 0; ) {
    let to = Math.min(end, from + columns)
    if (to < end && cells[to]!.text === "") to-- // a letter of two columns is not split
    rows.push({ cells: cells.slice(from, to), isBroken: to < end })
    from = to
  }
  return rows
}
