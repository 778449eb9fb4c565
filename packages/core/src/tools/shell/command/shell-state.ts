/** What is known of the shell at one point of the line: its directory, its variables, and how deeply the point is nested. */
import type { ParsedScript } from "unbash"
import type { TrustedPrograms } from "../trusted-path.ts"
import type { Disk } from "./disk.ts"
import type { UnusualKind } from "./facts.ts"
import type { Surroundings, Variable } from "./fields.ts"
import type { Findings } from "./findings.ts"
import type { Grammar } from "./grammar.ts"
import type { Place, PrintedPaths } from "./judged.ts"
import { environmentVariable, isHarmlessAssignment } from "./variables.ts"

export const MOST_DEPTH = 40

export interface LineSurroundings {
  /** With links followed. */
  readonly directory: string | undefined
  readonly disk: Disk | undefined
  readonly programs: TrustedPrograms | undefined
  readonly home: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the shell that runs the line. */
  readonly grammar: Grammar
}

/** What holds for the line as a whole. */
export interface Line {
  readonly around: LineSurroundings
  readonly findings: Findings
  /** How often each variable is assigned. `*`: commands that may set any. */
  readonly assignments: ReadonlyMap<string, number>
  mayMakeLinks: boolean
  /** Goes through a script inside a word. */
  readonly runScript: (script: ParsedScript, shell: ShellState) => void
}

interface Known {
  readonly directory: string | undefined
  /** A link led to the directory, so `cd ..` leads elsewhere than `..` in a path. */
  readonly isLinked: boolean | undefined
  readonly variables: Map<string, Variable>
  /** Names of functions that are sure to be defined. */
  readonly functions: Set<string>
  readonly depth: number
  /** Positions are those of the line, and no earlier round of a loop marked them. */
  readonly marksUnusual: boolean
}

export class ShellState {
  readonly line: Line
  readonly variables: Map<string, Variable>
  readonly functions: Set<string>
  readonly #depth: number
  #marksUnusual: boolean
  #directory: string | undefined
  #isLinked: boolean | undefined

  constructor(line: Line, { directory, isLinked, variables, functions, depth, marksUnusual }: Known) {
    this.line = line
    this.variables = variables
    this.functions = functions
    this.#depth = depth
    this.#marksUnusual = marksUnusual
    this.#directory = directory
    this.#isLinked = isLinked
  }

  static atStartOf(line: Line): ShellState {
    const { directory } = line.around
    const nothing = { variables: new Map<string, Variable>(), functions: new Set<string>() }
    return new ShellState(line, { ...nothing, directory, isLinked: undefined, depth: 0, marksUnusual: true })
  }

  #with(changes: Partial<Known>): ShellState {
    return new ShellState(this.line, {
      directory: this.#directory,
      isLinked: this.#isLinked,
      variables: this.variables,
      functions: this.functions,
      depth: this.#depth,
      marksUnusual: this.#marksUnusual,
      ...changes,
    })
  }

  /** A process of its own: what it sets does not come back. */
  subshell(): ShellState {
    return this.#with({ variables: new Map(this.variables), functions: new Set(this.functions) })
  }

  /** One level further in, with the same variables. */
  deeper(): ShellState {
    return this.#with({ depth: this.#depth + 1 })
  }

  deeperIn(directory: string | undefined): ShellState {
    return this.#with({ depth: this.#depth + 1, directory })
  }

  /** A script in a word, such as that of `bash -c`: its positions are not those of the line, and it knows no functions. */
  forScript(): ShellState {
    const depth = this.#depth + 1
    return this.#with({ variables: new Map(), functions: new Set(), depth, marksUnusual: false })
  }

  /** The body of a function may run anywhere later. */
  forFunction(): ShellState {
    const nowhere = { directory: undefined, isLinked: undefined, variables: new Map<string, Variable>() }
    return this.#with({ ...nowhere, functions: new Set(this.functions), depth: this.#depth + 1 })
  }

  stopMarking(): void {
    this.#marksUnusual = false
  }

  get isTooDeep(): boolean {
    return this.#depth > MOST_DEPTH
  }

  get findings(): Findings {
    return this.line.findings
  }

  moveTo(directory: string | undefined, { isLinked }: { readonly isLinked: boolean }): void {
    this.#directory = directory
    this.#isLinked = isLinked
  }

  /** Where a part of the line that runs in this shell ended up. */
  follow(part: ShellState): void {
    this.moveTo(part.#directory, { isLinked: part.#isLinked ?? false })
  }

  forgetDirectory(): void {
    this.#directory = undefined
  }

  /** Something that may or may not happen: what it sets is not known afterwards. */
  branch(run: (copy: ShellState) => void): void {
    const copy = this.subshell().deeper()
    run(copy)
    this.keepAgreed(copy)
  }

  /** Keeps only what the other state agrees with. */
  keepAgreed(other: ShellState): void {
    if (other.#directory !== this.#directory || other.#isLinked !== this.#isLinked) this.forgetDirectory()
    for (const name of this.functions) if (!other.functions.has(name)) this.functions.delete(name)
    for (const name of new Set([...this.variables.keys(), ...other.variables.keys()])) {
      const [a, b] = [this.variables.get(name), other.variables.get(name)]
      if (a && b && a.text === b.text) continue
      const fromOutside = environmentVariable(name, this.line.around.env)
      const isPrintable = [a, b].every((value) => (value ?? fromOutside).isPrintable)
      this.variables.set(name, { text: undefined, isPrintable })
    }
  }

  /** A variable that gets a value in passing: in a loop, or as a default. */
  checkSet(name: string): void {
    if (!isHarmlessAssignment({ name, value: undefined }, this.line.around.env)) this.findings.addObeyedVariable()
  }

  mark(kind: UnusualKind, range: { readonly pos: number; readonly end: number }): void {
    if (this.#marksUnusual) this.findings.addUnusual(kind, range)
  }

  /** For the expansion of a word. */
  get surroundings(): Surroundings {
    const { disk, home, env } = this.line.around
    return {
      disk,
      home,
      directory: this.#directory,
      variable: (name) => {
        if (name === "PWD") return { text: undefined, isPrintable: true }
        return this.variables.get(name) ?? environmentVariable(name, env)
      },
      onListed: (path) => this.findings.reads.push({ path, isListed: true }),
    }
  }

  /** For the judge of a command. */
  place(piped?: PrintedPaths): Place {
    const { disk, programs, home, env } = this.line.around
    const isLinked = this.#isLinked ?? false
    return {
      directory: this.#directory,
      isLinked,
      disk,
      programs,
      home,
      env,
      hasNewLinks: this.line.mayMakeLinks,
      piped,
    }
  }
}
