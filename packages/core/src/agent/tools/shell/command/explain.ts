/**
 * Explains a line outside the supported subset with a bash parser: its commands at any depth, and its files. The result is used for rules
 * that deny or ask, for the dialog, and for lines that a sandbox confines. No guarantee depends on it, because a parser for all of bash
 * always has another edge case.
 */
import { forEachChild, type ParsedScript, parse, type Redirection, type SyntaxNode, type Word } from "unbash"
import type { FileUse, SimpleCommand, UnusualKind, UnusualPart } from "../../../../tools/command.ts"
import { expandToOne, type Variables } from "../../../../views/record/shell-effects.ts"
import { analyzeWords, namesIn, type ScriptInWord } from "./analyze-words.ts"
import { type AnalysisContext, filesOf, resolveIn } from "./command-effects.ts"
import { type ExpandedWord, HIDDEN_COMMAND } from "./expanded-word.ts"
import { readSmallLine } from "./small-language.ts"

/** Limit on openings times line length, to which the parser's time is proportional. At this limit it takes less than half a second. */
const MAX_WORK = 4_000_000
const MAX_CHARACTERS = 64_000
const MAX_COMMANDS = 1_000
const MAX_DEPTH = 10 // nesting depth of scripts in arguments

export interface LineExplanation {
  readonly commands: readonly SimpleCommand[]
  readonly reads: readonly FileUse[]
  readonly writes: readonly FileUse[]
  /** Effects that are unknown before the line runs, as sentences for the user. */
  readonly unknown: readonly string[]
  readonly unusual: readonly UnusualPart[]
  /** Whether a command runs in the background. */
  readonly isDetached: boolean
}

export function explain(line: string, place: AnalysisContext): LineExplanation {
  const found = new Explainer(place)
  found.script({ text: line, isOtherShell: false }, 0)
  return found.result()
}

type Node<Type extends SyntaxNode["type"]> = Extract<SyntaxNode, { type: Type }>

/** Builtins that only change the shell itself. Their effects end with the line. */
const OF_THE_SHELL = new Set(
  "break continue declare exit export getopts let local mapfile popd pushd read readarray readonly return set shift typeset unset".split(
    " ",
  ),
)
/** Commands after which relative paths may point elsewhere. */
const MOVES = new Set(["cd", "pushd", "popd", "source", ".", "eval", "ln"])
/** Prefixes of builtins: `command cd sub` has the effect of `cd sub`. */
const BEFORE_BUILTINS = new Set(["command", "builtin"])

/** Variables set in the line are not tracked, because they could be changed again, or by another program. */
const NO_VARIABLES: Variables = new Map()

class Explainer {
  readonly #place: AnalysisContext
  /** Commands as arguments. They are judged at the end, when it is known whether the line changes its directory. */
  readonly #calls: { readonly fields: readonly ExpandedWord[]; readonly depth: number }[] = []
  readonly #redirections: { readonly kind: "read" | "write"; readonly target: ExpandedWord }[] = []
  readonly #functions = new Set<string>()
  readonly #unknown = new Set<string>()
  readonly #unusual: UnusualPart[] = []
  #hasHidden = false
  #isDetached = false

  constructor(place: AnalysisContext) {
    this.#place = place
  }

  /** Analyzes a script. Positions are reported only for the line itself. */
  script({ text, isOtherShell }: ScriptInWord, depth: number): void {
    if (text === undefined) {
      this.#hide("It runs a script that is only known when it runs.")
      return
    }
    const openings = text.match(/[({`]|<</g)?.length ?? 0
    const isTooLong = text.length > MAX_CHARACTERS || openings * text.length > MAX_WORK
    if (isTooLong || depth > MAX_DEPTH) {
      this.#hide("It is too long or too deeply nested to look at.")
      return
    }
    if (isOtherShell && (/[$`]/.test(text) || readSmallLine(text).state === "outside"))
      this.#hide("It is a script for a shell that may read it in another way than bash.")
    this.#script(parse(text), depth)
  }

  #script({ errors, commands }: ParsedScript, depth: number): void {
    if (errors?.[0]) this.#hide("It cannot be parsed as a command line.")
    for (const statement of commands) this.#visit(statement, depth)
  }

  #visit(node: SyntaxNode, depth: number): void {
    switch (node.type) {
      case "Statement":
        if (node.background) {
          this.#mark("background", { pos: node.end - 1, end: node.end }, depth)
          this.#isDetached = true
        }
        break
      case "Command":
        this.#call(node, depth)
        break
      case "Redirected":
        for (const redirection of node.redirects) this.#redirect(redirection, depth)
        break
      case "Function":
        this.#functions.add(node.name.value)
        break
      case "CommandExpansion":
      case "ProcessSubstitution":
      case "ArithmeticCommandExpansion":
        this.#mark("substitution", node, depth)
        if (node.script) this.#script(node.script, node.script.source === undefined ? depth : depth + 1)
        else this.#hide("It has a substitution that cannot be parsed.")
        return
      case "AnsiCQuoted":
        if (node.text.includes("\\")) this.#mark("escape", node, depth)
        break
      case "Word":
        // the parser treats some words as plain that are not: an array before another word
        if (!node.parts && /[`(]|\$[^/|]/.test(node.text.replace(/\\./gs, "")))
          this.#hide("It has a part that cannot be parsed.")
        break
    }
    forEachChild(node, (child) => this.#visit(child, depth))
  }

  #call({ name, args, redirects }: Node<"Command">, depth: number): void {
    for (const redirection of redirects) this.#redirect(redirection, depth)
    if (!name) return
    const words = [name, ...args].map((word) => this.#field(word.type === "Word" ? word : undefined))
    if (this.#calls.length < MAX_COMMANDS) this.#calls.push({ fields: words, depth })
    else this.#hide("It runs too many commands to look at.")
  }

  #redirect(redirection: Redirection, depth: number): void {
    if (redirection.type !== "Redirect") {
      this.#mark("here-document", redirection, depth)
      return
    }
    const { operator, target } = redirection
    const field = this.#field(target)
    const isCopy = operator.endsWith("&") && /^(?:\d+|-|\d+-)$/.test(field.text ?? "")
    if (isCopy || field.text === "/dev/null") return
    this.#mark("redirection", redirection, depth)
    if (/^\/dev\/(?:tcp|udp)\//.test(field.text ?? "")) this.#hide("It opens a network connection.")
    if (operator !== "<" && operator !== "<&") this.#redirections.push({ kind: "write", target: field })
    if (operator.startsWith("<")) this.#redirections.push({ kind: "read", target: field })
  }

  #field(word: Word | undefined): ExpandedWord {
    const text = word && expandToOne(word, NO_VARIABLES)
    const { home } = this.#place
    const isTilde = text?.startsWith("~") && word?.text.startsWith("~")
    if (!isTilde) return { text }
    return { text: home !== undefined && /^~(?:\/|$)/.test(text!) ? `${home}${text!.slice(1)}` : undefined }
  }

  #hide(why: string): void {
    this.#unknown.add(why)
    this.#hasHidden = true
  }

  #mark(kind: UnusualKind, { pos, end }: { readonly pos: number; readonly end: number }, depth: number): void {
    if (depth === 0 && this.#unusual.length < MAX_COMMANDS) this.#unusual.push({ kind, start: pos, end })
  }

  result(): LineExplanation {
    const commands: SimpleCommand[] = []
    for (let at = 0; at < this.#calls.length; at++) {
      const { fields, depth } = this.#calls[at]!
      const program = fields[0]?.text
      if (program !== undefined && (OF_THE_SHELL.has(program) || this.#functions.has(program))) continue
      const judged = analyzeWords(fields, this.#commonContext())
      const [own, ...rest] = judged.commands
      commands.push({ ...own!, names: [...own!.names, ...this.#namesElsewhere(fields.slice(1))] }, ...rest)
      for (const why of judged.unknown) this.#unknown.add(why)
      for (const script of judged.scripts) this.script(script, depth + 1) // adds calls
    }
    const place = this.#commonContext()
    const filesOfKind = (wanted: "read" | "write") =>
      this.#redirections
        .filter(({ kind }) => kind === wanted)
        .flatMap(({ target }) => filesOf(target, place, { isDashFile: true }))
    return {
      commands: this.#hasHidden ? [...commands, HIDDEN_COMMAND] : commands,
      reads: filesOfKind("read"),
      writes: filesOfKind("write"),
      unknown: [...this.#unknown],
      unusual: this.#unusual,
      isDetached: this.#isDetached,
    }
  }

  /** The context of all commands. If a `cd` may run first, the directory is unknown. */
  #commonContext(): AnalysisContext {
    return this.#mayMove ? { ...this.#place, directory: undefined } : this.#place
  }

  get #mayMove(): boolean {
    return this.#calls.some(({ fields: [program, ...args] }) => {
      if (program?.text === undefined || MOVES.has(program.text)) return true
      return BEFORE_BUILTINS.has(program.text) && args.some(({ text }) => text !== undefined && MOVES.has(text))
    })
  }

  /** Files that arguments may refer to in each directory that the line may change to. */
  #namesElsewhere(args: readonly ExpandedWord[]): readonly string[] {
    if (!this.#mayMove) return []
    const targets = this.#calls.flatMap(({ fields: [program, target] }) =>
      program?.text === "cd" || program?.text === "pushd" ? (target?.text ?? []) : [],
    )
    const directories = [this.#place.directory, ...targets.map((target) => resolveIn(target, this.#place))]
    return directories.flatMap((directory) => namesIn(args, { ...this.#place, directory }))
  }
}
