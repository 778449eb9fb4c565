/**
 * Explains a line that is not in the small language, with a parser of bash: which commands are in it, at any depth, and which files. It is
 * for rules that deny or ask, for the dialog, and for lines that a sandbox confines. No promise rests on it: a parser that must understand
 * all of bash always has one more case.
 */
import { forEachChild, type ParsedScript, parse, type Redirection, type SyntaxNode, type Word } from "unbash"
import type { FileUse, SimpleCommand, UnusualKind, UnusualPart } from "../../../../tools/command.ts"
import { expandedToOne, type Variables } from "../../../../views/record/shell-effects.ts"
import { type Field, HIDDEN_COMMAND } from "./facts.ts"
import { judgeWords, namesIn, type ScriptInWord } from "./judge-words.ts"
import { filesOf, type Place, resolveIn } from "./judged.ts"
import { readSmallLine } from "./small-language.ts"

/** The parser needs time for every opening sign times the length of the line. This takes it less than half a second. */
const MAX_WORK = 4_000_000
const MAX_CHARACTERS = 64_000
const MAX_COMMANDS = 1_000
const MAX_DEPTH = 10 // of scripts in words

export interface Explained {
  readonly commands: readonly SimpleCommand[]
  readonly reads: readonly FileUse[]
  readonly writes: readonly FileUse[]
  /** What cannot be known before it runs, as sentences for a person. */
  readonly unknown: readonly string[]
  readonly unusual: readonly UnusualPart[]
  /** Something goes on in the background. */
  readonly isDetached: boolean
}

export function explain(line: string, place: Place): Explained {
  const found = new Finding(place)
  found.script({ text: line, isOtherShell: false }, 0)
  return found.result()
}

type Node<Type extends SyntaxNode["type"]> = Extract<SyntaxNode, { type: Type }>

/** Builtins that only change the shell itself. What they change ends with the line. */
const OF_THE_SHELL = new Set(
  "break continue declare exit export getopts let local mapfile popd pushd read readarray readonly return set shift typeset unset".split(
    " ",
  ),
)
/** After these, a relative path may lead elsewhere. */
const MOVES = new Set(["cd", "pushd", "popd", "source", ".", "eval", "ln"])
/** `command cd sub` moves as `cd sub` does. */
const BEFORE_BUILTINS = new Set(["command", "builtin"])

/** What the line sets is not followed: the value could be set again, or by another program. */
const NO_VARIABLES: Variables = new Map()

class Finding {
  readonly #place: Place
  /** Commands as words. They are judged in the end, when it is known whether the line changes its directory. */
  readonly #calls: { readonly fields: readonly Field[]; readonly depth: number }[] = []
  readonly #redirections: { readonly kind: "read" | "write"; readonly target: Field }[] = []
  readonly #functions = new Set<string>()
  readonly #unknown = new Set<string>()
  readonly #unusual: UnusualPart[] = []
  #hasHidden = false
  #isDetached = false

  constructor(place: Place) {
    this.#place = place
  }

  /** Only the positions of the line itself are marked. */
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
        // the parser takes some words for plain that are not: an array before another word
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

  #field(word: Word | undefined): Field {
    const text = word && expandedToOne(word, NO_VARIABLES)
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

  result(): Explained {
    const commands: SimpleCommand[] = []
    for (let at = 0; at < this.#calls.length; at++) {
      const { fields, depth } = this.#calls[at]!
      const program = fields[0]?.text
      if (program !== undefined && (OF_THE_SHELL.has(program) || this.#functions.has(program))) continue
      const judged = judgeWords(fields, this.#placeOfAll())
      const [own, ...rest] = judged.commands
      commands.push({ ...own!, names: [...own!.names, ...this.#namesElsewhere(fields.slice(1))] }, ...rest)
      for (const why of judged.unknown) this.#unknown.add(why)
      for (const script of judged.scripts) this.script(script, depth + 1) // adds calls
    }
    const place = this.#placeOfAll()
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

  /** Where a `cd` may come first, the directory is not known. */
  #placeOfAll(): Place {
    return this.#mayMove ? { ...this.#place, directory: undefined } : this.#place
  }

  get #mayMove(): boolean {
    return this.#calls.some(({ fields: [program, ...args] }) => {
      if (program?.text === undefined || MOVES.has(program.text)) return true
      return BEFORE_BUILTINS.has(program.text) && args.some(({ text }) => text !== undefined && MOVES.has(text))
    })
  }

  /** The files that words may name in each directory that the line may move to. */
  #namesElsewhere(args: readonly Field[]): readonly string[] {
    if (!this.#mayMove) return []
    const targets = this.#calls.flatMap(({ fields: [program, target] }) =>
      program?.text === "cd" || program?.text === "pushd" ? (target?.text ?? []) : [],
    )
    const directories = [this.#place.directory, ...targets.map((target) => resolveIn(target, this.#place))]
    return directories.flatMap((directory) => namesIn(args, { ...this.#place, directory }))
  }
}
