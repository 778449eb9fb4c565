/**
 * Goes through a parsed command line in the order bash would, with what is known of directory and variables, and collects every command
 * that could run. Both branches of a condition count. What cannot be known becomes a command without a name.
 */
import {
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
} from "unbash"
import type { Disk } from "./disk.ts"
import type { FileUse, SimpleCommand, UnusualKind, UnusualPart } from "./facts.ts"
import { expandToOne, expandWord, type Field, fieldOf, known, type Surroundings, type Variable } from "./fields.ts"
import { type Invocation, judgeInvocation } from "./invocation.ts"
import { filesOf, type Place, type PrintedPaths } from "./judged.ts"
import { test } from "./plain-readers.ts"
import { type Assigned, environmentVariable, isHarmlessAssignment, isHarmlessPrefix } from "./variables.ts"

const MOST_DEPTH = 40
const MOST_COMMANDS = 1_000
const MOST_ROUNDS = 50 // of one `for` loop
const MOST_REASONS = 20
/** The parser needs time for every opening sign times the length of the line. This takes it less than half a second. */
const MOST_WORK = 4_000_000
const MOST_CHARACTERS = 64_000

const SETS_MEANING = "It sets a variable that programs or the shell obey."

export interface LineSurroundings {
  /** With links followed. */
  readonly directory: string | undefined
  readonly disk: Disk | undefined
  readonly home: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What is known at one point of the line. */
interface Scope {
  directory: string | undefined
  /** A link led to the directory, so `cd ..` leads elsewhere than `..` in a path. */
  isLinked?: boolean
  readonly variables: Map<string, Variable>
  readonly depth: number
}

/** What a command gets from the pipe before it. */
type Piped = { readonly paths?: PrintedPaths | undefined } | undefined

export class Evaluation {
  readonly commands: SimpleCommand[] = []
  readonly reads: FileUse[] = []
  readonly writes: FileUse[] = []
  readonly unknown = new Set<string>()
  readonly unusual: UnusualPart[] = []
  changesNothing = true
  readonly #around: LineSurroundings
  readonly #functions = new Set<string>()
  #assignments: ReadonlyMap<string, number> = new Map()
  #mayMakeLinks = false

  constructor(around: LineSurroundings) {
    this.#around = around
  }

  run(line: string): void {
    const scope: Scope = { directory: this.#around.directory, variables: new Map(), depth: 0 }
    const script = this.#parse(line)
    if (!script) return
    this.#assignments = countAssignments(script)
    this.#script(script, scope, { marks: true })
  }

  /** A command that is only known when it runs. */
  #hidden(why: string, words: readonly (string | undefined)[] = [undefined]): void {
    this.#because(why)
    this.#add({ words, isReadOnly: false, uses: { reads: [], writes: [] }, names: [], changesEnvironment: false })
  }

  #because(why: string): void {
    this.changesNothing = false
    if (this.unknown.size < MOST_REASONS) this.unknown.add(why)
  }

  #add(command: SimpleCommand): void {
    if (this.commands.length < MOST_COMMANDS) this.commands.push(command)
    else if (this.commands.length === MOST_COMMANDS) {
      this.commands.push({
        words: [undefined],
        isReadOnly: false,
        uses: { reads: [], writes: [] },
        names: [],
        changesEnvironment: false,
      })
      this.#because("It runs too many commands to look at.")
    }
  }

  #mark(kind: UnusualKind, { pos, end }: { readonly pos: number; readonly end: number }, isMarked: boolean): void {
    if (isMarked && this.unusual.length < MOST_COMMANDS) this.unusual.push({ kind, start: pos, end })
  }

  #parse(text: string): ParsedScript | undefined {
    const openings = text.match(/[({`]|<</g)?.length ?? 0
    if (text.length > MOST_CHARACTERS || openings * text.length > MOST_WORK) {
      this.#hidden("It is too long to look at.")
      return undefined
    }
    // bash joins such lines before it looks for expansions, the parser after it
    if (/\$\\\n/.test(text)) this.#hidden("It breaks a line after a dollar sign.")
    return parse(text)
  }

  #script(script: ParsedScript, scope: Scope, { marks }: { readonly marks: boolean }): void {
    for (const { message } of script.errors?.slice(0, 1) ?? []) this.#hidden(`It cannot be parsed: ${message}.`)
    this.#statements(script.commands, scope, marks && script.source === undefined)
  }

  /** A script inside a word: `bash -c`, `eval`. Its positions are not those of the line. */
  #text(text: string | undefined, scope: Scope): void {
    if (text === undefined) {
      this.#hidden("It runs a script that is only known when it runs.")
      return
    }
    if (scope.depth > MOST_DEPTH) {
      this.#hidden("It is nested too deeply to look at.")
      return
    }
    const script = this.#parse(text)
    if (script) this.#script(script, { ...scope, variables: new Map(), depth: scope.depth + 1 }, { marks: false })
  }

  #statements(statements: readonly Statement[], scope: Scope, marks: boolean): void {
    for (const { command, background, end } of statements) {
      if (this.commands.length > MOST_COMMANDS) return
      if (!background) {
        this.#node(command, scope, { marks })
        continue
      }
      this.#mark("background", { pos: end - 1, end }, marks)
      this.changesNothing = false
      this.#node(command, copyOf(scope), { marks })
    }
  }

  #node(node: SyntaxNode, outer: Scope, { marks, piped }: { readonly marks: boolean; readonly piped?: Piped }): Piped {
    if (outer.depth > MOST_DEPTH || this.commands.length > MOST_COMMANDS) {
      this.#hidden("It is nested too deeply to look at.")
      return undefined
    }
    const scope: Scope = outer
    const deeper = (from: Scope): Scope => ({ ...from, depth: from.depth + 1 })
    const inside = (list: readonly Statement[]) => this.#branch(scope, (copy) => this.#statements(list, copy, marks))
    switch (node.type) {
      case "Command":
        return this.#command(node, scope, { marks, piped })
      case "AndOr": {
        const [first, ...rest] = node.commands
        if (first) this.#node(first, scope, { marks })
        this.#branch(scope, (copy) => {
          for (const [at, part] of rest.entries()) {
            if (node.operators[at] === "||") this.#forget(copy, scope)
            this.#node(part, copy, { marks })
          }
        })
        return undefined
      }
      case "Pipeline": {
        let from: Piped
        if (node.commands.length === 1) return void this.#node(node.commands[0]!, scope, { marks })
        for (const part of node.commands)
          from = this.#node(part, copyOf(scope), { marks, piped: from ?? (part === node.commands[0] ? undefined : {}) })
        return from
      }
      case "Redirected":
        for (const redirection of node.redirects) this.#redirection(redirection, scope, marks)
        return this.#node(node.command, scope, { marks, piped })
      case "Subshell":
        this.#statements(node.body.commands, deeper(copyOf(scope)), marks)
        return undefined
      case "BraceGroup": {
        const group = deeper(scope)
        this.#statements(node.body.commands, group, marks)
        scope.directory = group.directory
        scope.isLinked = group.isLinked ?? false
        return undefined
      }
      case "If":
        inside(node.clause.commands)
        inside(node.then.commands)
        for (const branch of node.elif) {
          inside(branch.clause.commands)
          inside(branch.then.commands)
        }
        if (node.else) inside(node.else.commands)
        return undefined
      case "While":
        this.#loop(node, scope, (copy) => {
          this.#statements(node.clause.commands, copy, marks)
          this.#statements(node.body.commands, copy, marks)
        })
        return undefined
      case "For":
        this.#for(node, scope, marks)
        return undefined
      case "Select":
      case "ArithmeticFor":
        if (node.type === "ArithmeticFor") this.#arithmetic(node, scope, marks)
        else {
          for (const word of node.wordlist ?? []) this.#compared(word, scope, marks) // the menu shows them
          this.#checkSet(node.name.value)
        }
        this.#loop(node, scope, (copy) => this.#statements(node.body.commands, copy, marks))
        return undefined
      case "Case":
        this.#compared(node.word, scope, marks)
        for (const item of node.items) {
          for (const pattern of item.pattern) this.#compared(pattern, scope, marks)
          inside(item.body.commands)
        }
        return undefined
      case "Function":
        this.#functions.add(node.name.value)
        this.#node(node.body, { directory: undefined, variables: new Map(), depth: scope.depth + 1 }, { marks })
        return undefined
      case "CompoundList":
        this.#statements(node.commands, deeper(scope), marks)
        return undefined
      case "Coproc":
        this.changesNothing = false
        this.#mark("background", node, marks)
        this.#node(node.body, deeper(copyOf(scope)), { marks })
        return undefined
      case "TestCommand":
        this.#conditional(node.expression, scope, marks)
        return undefined
      case "ArithmeticCommand":
        this.#arithmetic(node, scope, marks)
        return undefined
      default:
        this.#hidden(`It has a part that is not understood: ${node.type}.`)
        return undefined
    }
  }

  /** Something that may or may not happen: what it sets is not known afterwards. */
  #branch(scope: Scope, run: (copy: Scope) => void): void {
    const copy: Scope = { ...copyOf(scope), depth: scope.depth + 1 }
    run(copy)
    this.#forget(scope, copy)
  }

  /** Keeps in `scope` only what `other` agrees with. */
  #forget(scope: Scope, other: Scope): void {
    if (other.directory !== scope.directory || other.isLinked !== scope.isLinked) scope.directory = undefined
    for (const name of new Set([...scope.variables.keys(), ...other.variables.keys()])) {
      const [a, b] = [scope.variables.get(name), other.variables.get(name)]
      if (a?.text !== b?.text || !a || !b) {
        const isPrintable = [a, b].every((value) => (value ?? environmentVariable(name, this.#around.env)).isPrintable)
        scope.variables.set(name, { text: undefined, isPrintable })
      }
    }
  }

  /** A body that runs several times starts with what an earlier round left. */
  #loop(node: SyntaxNode, scope: Scope, run: (copy: Scope) => void): void {
    this.#branch(scope, (copy) => {
      if (movesDirectory(node)) copy.directory = undefined
      run(copy)
    })
  }

  #for(node: Extract<SyntaxNode, { type: "For" }>, scope: Scope, marks: boolean): void {
    for (const word of node.wordlist ?? []) this.#inWord(word, scope, marks)
    const fields = (node.wordlist ?? []).flatMap((word) => expandWord(word, this.#surroundings(scope)))
    const name = node.name.value
    this.#checkSet(name)
    const isSetInside = [...countAssignments(node.body).keys()].some((set) => set === name || set === "*")
    const isKnown = node.wordlist !== undefined && fields.length <= MOST_ROUNDS && !isSetInside
    const isPrintable = fields.every((field) => field.text !== undefined || field.isPrintable)
    const rounds: readonly Variable[] = isKnown
      ? fields.map(({ text, isPrintable: may = false }) => ({ text, isPrintable: text !== undefined || may }))
      : [{ text: undefined, isPrintable }]
    for (const [round, value] of rounds.entries()) {
      this.#loop(node, scope, (copy) => {
        copy.variables.set(name, value)
        this.#statements(node.body.commands, copy, marks && round === 0)
      })
    }
    scope.variables.set(name, { text: undefined, isPrintable })
  }

  /** A variable that gets a value in passing: in a loop, or as a default. */
  #checkSet(name: string): void {
    if (!isHarmlessAssignment({ name, value: undefined }, this.#around.env)) this.#hidden(SETS_MEANING, [])
  }

  #surroundings(scope: Scope): Surroundings {
    const { disk, home, env } = this.#around
    return {
      disk,
      home,
      directory: scope.directory,
      variable: (name) => {
        if (name === "PWD") return { text: undefined, isPrintable: true }
        return scope.variables.get(name) ?? environmentVariable(name, env)
      },
      onListed: (path) => this.reads.push({ path, isListed: true }),
    }
  }

  #place(scope: Scope, piped: Piped = undefined): Place {
    const { disk, home, env } = this.#around
    const { directory, isLinked = false } = scope
    return { directory, isLinked, disk, home, env, hasNewLinks: this.#mayMakeLinks, piped: piped?.paths }
  }

  /** Runs what is inside a word: substitutions, also in strings, parameters and arithmetic. */
  #inWord(node: SyntaxNode, scope: Scope, marks: boolean): void {
    if (scope.depth > MOST_DEPTH) {
      this.#hidden("It is nested too deeply to look at.")
      return
    }
    if (
      node.type === "CommandExpansion" ||
      node.type === "ProcessSubstitution" ||
      node.type === "ArithmeticCommandExpansion"
    ) {
      this.#mark("substitution", node, marks)
      if (!node.script) {
        this.#hidden("It has a substitution that cannot be parsed.")
        return
      }
      this.#script(node.script, { ...copyOf(scope), depth: scope.depth + 1 }, { marks })
      return
    }
    if (node.type === "ArithmeticExpansion") this.#checkArithmetic(node.text)
    if (node.type === "ParameterExpansion") this.#checkParameter(node)
    if (node.type === "AnsiCQuoted" && /\\/.test(node.text)) this.#mark("escape", node, marks)
    forEachChild(node, (child) => this.#inWord(child, { ...scope, depth: scope.depth + 1 }, marks))
  }

  /** What a word is compared with tells its value, piece by piece. */
  #compared(word: Word, scope: Scope, marks: boolean): void {
    this.#inWord(word, scope, marks)
    for (const part of word.parts ?? []) {
      const isPattern = part.type === "Glob" || part.type === "ExtendedGlob"
      if (!isPattern || part.text.includes("$")) this.#checkShown(fieldOf(part, this.#surroundings(scope)))
    }
  }

  #checkParameter(node: Extract<SyntaxNode, { type: "ParameterExpansion" }>): void {
    const { operation, prefix, index, text, parameter } = node
    if (operation?.type === "Default" && operation.operator.endsWith("=")) this.#checkSet(parameter)
    const isEvaluated =
      operation?.type === "Transform" || operation?.type === "Unknown" || operation?.type === "Slice" || prefix === "!"
    const isCounted = index !== undefined && !/^(?:\d+|[@*])$/.test(index.value)
    if (isEvaluated || isCounted) this.#hidden(`It evaluates ${text}.`)
  }

  /** A name in arithmetic is evaluated again, and its value may hold a command. */
  #checkArithmetic(text: string): void {
    if (/[A-Za-z_]/.test(text)) this.#hidden("It calculates with variables that are only known when it runs.")
  }

  #arithmetic(node: SyntaxNode, scope: Scope, marks: boolean): void {
    this.#hidden("It calculates with variables that are only known when it runs.")
    const visit = (child: SyntaxNode): void => {
      if (child.type !== "CompoundList") this.#inWord(child, { ...scope, depth: scope.depth + 1 }, marks)
    }
    forEachChild(node, visit)
  }

  /** `[[ … ]]` */
  #conditional(node: SyntaxNode, scope: Scope, marks: boolean): void {
    if (node.type === "TestUnary") {
      this.#inWord(node.operand, scope, marks)
      this.#judgeTest([known(node.operator), expandToOne(node.operand, this.#surroundings(scope))], scope)
    } else if (node.type === "TestBinary") {
      for (const side of [node.left, node.right]) this.#compared(side, scope, marks)
      const isNumeric = /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)
      const sides = [node.left, node.right].map((side) =>
        isPattern(side) ? known("x") : expandToOne(side, this.#surroundings(scope)),
      )
      if (isNumeric && !sides.every(({ text }) => /^-?\d+$/.test(text ?? "")))
        this.#hidden("It calculates with variables that are only known when it runs.")
      else this.#judgeTest([sides[0]!, known(node.operator === "=~" ? "=" : node.operator), sides[1]!], scope)
    } else forEachChild(node, (child) => this.#conditional(child, { ...scope, depth: scope.depth + 1 }, marks))
  }

  #judgeTest(fields: readonly Field[], scope: Scope): void {
    const judged = test(fields, this.#place(scope))
    const isClear = judged.state === "understood"
    if (!isClear) this.#because(`[[: ${judged.why}.`)
    this.#add({
      words: ["[[", ...fields.map(({ text }) => text)],
      isReadOnly: isClear,
      uses: { reads: isClear ? judged.reads : [], writes: [] },
      names: [],
      changesEnvironment: false,
    })
  }

  #redirection(redirection: Redirection, scope: Scope, marks: boolean): void {
    if (redirection.type === "HereDoc") {
      this.#mark("here-document", redirection, marks)
      for (const part of redirection.body.parts ?? []) {
        this.#inWord(part, scope, marks)
        this.#checkShown(fieldOf(part, this.#surroundings(scope)))
      }
      return
    }
    if (!redirection.target) {
      this.#hidden("It has a redirection without a target.")
      return
    }
    this.#inWord(redirection.target, scope, marks)
    if (redirection.type === "HereString") {
      this.#checkShown(expandToOne(redirection.target, this.#surroundings(scope)))
      this.#mark("here-document", redirection, marks)
      return
    }
    const target = expandToOne(redirection.target, this.#surroundings(scope))
    const isCopy = redirection.operator.endsWith("&") && /^(?:\d+|-|\d+-)$/.test(target.text ?? "")
    if (isCopy) return
    if (/^\/dev\/(?:tcp|udp)\//.test(target.text ?? "")) {
      this.#hidden("It opens a network connection.")
      return
    }
    const uses = filesOf(target, this.#place(scope))
    if (uses.length > 0) this.#mark("redirection", redirection, marks)
    if (redirection.operator !== "<" && redirection.operator !== "<&") this.writes.push(...uses)
    if (redirection.operator === "<" || redirection.operator === "<&" || redirection.operator === "<>")
      this.reads.push(...uses)
    if (uses.some(({ path }) => path === undefined))
      this.#because("It redirects to or from a file that is only known when it runs.")
  }

  /** What a command gets as its input, it may print. */
  #checkShown({ text, isPrintable }: Field): void {
    if (text === undefined && !isPrintable) this.#because("It may show a variable of the environment.")
  }

  #command(node: Command, scope: Scope, { marks, piped }: { readonly marks: boolean; readonly piped?: Piped }): Piped {
    const assigned = this.#assign(node, scope, marks)
    for (const redirection of node.redirects) this.#redirection(redirection, scope, marks)
    if (!node.name) {
      for (const { name, value, isPrintable, isPlain } of assigned) {
        const isKnown = isPlain && this.#assignments.get(name) === 1 && !this.#assignments.has("*")
        scope.variables.set(name, {
          text: isKnown ? value : undefined,
          isPrintable: value !== undefined || isPrintable,
        })
      }
      if (!assigned.every((variable) => isHarmlessAssignment(variable, this.#around.env)))
        this.#hidden(SETS_MEANING, [])
      return undefined
    }
    const words = [node.name, ...node.args]
    for (const word of words) this.#inWord(word, scope, marks)
    const fields = words.flatMap((word) => this.#fieldsOf(word, scope))
    const input = node.redirects.find(({ type }) => type === "HereDoc" || type === "HereString")
    return this.#invoke(
      {
        fields,
        changesEnvironment: !assigned.every(isHarmlessPrefix),
        input: input ? textOf(input, this.#surroundings(scope)) : undefined,
        isFed: node.redirects.some(({ operator }) => operator === "<" || operator === "<>"),
      },
      scope,
      piped,
    )
  }

  #fieldsOf(word: Command["args"][number], scope: Scope): readonly Field[] {
    if (word.type === "Word") return expandWord(word, this.#surroundings(scope))
    const value = word.value.type === "Word" ? expandToOne(word.value, this.#surroundings(scope)) : { text: undefined }
    return [value.text === undefined ? value : known(`${word.name}=${value.text}`)]
  }

  #assign(
    node: Command,
    scope: Scope,
    marks: boolean,
  ): readonly (Assigned & { isPrintable: boolean; isPlain: boolean })[] {
    return node.prefix.flatMap((part) => {
      if (part.type !== "Assignment") return []
      this.#inWord(part, scope, marks)
      if (part.index && !/^\d+$/.test(part.index.value)) this.#hidden(`It evaluates ${part.name}[…].`)
      const field =
        part.value.type === "Word"
          ? expandToOne(part.value, this.#surroundings(scope))
          : { text: undefined, isPrintable: false }
      const isPlain = part.value.type === "Word" && !part.append && !part.index
      return [{ name: part.name, value: field.text, isPrintable: field.isPrintable ?? false, isPlain }]
    })
  }

  #invoke(invocation: Omit<Invocation, "place" | "isFunction" | "isPiped">, scope: Scope, piped: Piped): Piped {
    if (invocation.fields.length === 0) return undefined
    if (scope.depth > MOST_DEPTH) return void this.#hidden("It is nested too deeply to look at.")
    const name = invocation.fields[0]!.text
    const isFunction = name !== undefined && this.#functions.has(name)
    const outcome = judgeInvocation({
      ...invocation,
      place: this.#place(scope, piped),
      isFunction,
      isPiped: piped !== undefined,
    })
    for (const why of outcome.unknown) this.#because(why)
    for (const command of outcome.commands) this.#add(command)
    if (outcome.makesLinks) this.#mayMakeLinks = true
    for (const variable of outcome.sets) scope.variables.set(variable, { text: undefined, isPrintable: true })
    if (outcome.directory !== undefined) {
      scope.directory = outcome.directory.path
      scope.isLinked = outcome.directory.isLinked
    }
    for (const script of outcome.scripts) this.#text(script, scope)
    for (const inner of outcome.inner) {
      const at: Scope = {
        ...scope,
        depth: scope.depth + 1,
        ...(inner.directory ? { directory: inner.directory.path } : {}),
      }
      const changesEnvironment = invocation.changesEnvironment || inner.changesEnvironment
      this.#invoke({ ...invocation, fields: inner.fields, changesEnvironment }, at, piped)
      if (inner.isSameShell) {
        scope.directory = at.directory
        scope.isLinked = at.isLinked ?? false
      }
    }
    return { paths: outcome.prints }
  }
}

const copyOf = (scope: Scope): Scope => ({ ...scope, variables: new Map(scope.variables) })

const isPattern = (word: Word): boolean =>
  word.parts?.some(({ type }) => type === "Glob" || type === "ExtendedGlob") ?? false

/** The text that a here-document or here-string gives to the command. `undefined`: not known. */
function textOf(redirection: Redirection, surroundings: Surroundings): { readonly text: string | undefined } {
  if (redirection.type === "HereString")
    return { text: redirection.target && expandToOne(redirection.target, surroundings).text }
  if (redirection.type !== "HereDoc") return { text: undefined }
  const { body, delimiter } = redirection
  const isPlain = delimiter?.quoted || !/[$`\\]/.test(body.text)
  return { text: isPlain ? body.text : undefined }
}

/** How often each variable is assigned. `*`: commands that may set any. */
function countAssignments(root: SyntaxNode): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const add = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  const visit = (node: SyntaxNode, depth: number): void => {
    if (depth > MOST_DEPTH * 2) {
      add("*")
      return
    }
    if (node.type === "Assignment") add(node.name)
    if (node.type === "For" || node.type === "Select") add(node.name.value)
    if (
      node.type === "ParameterExpansion" &&
      node.operation?.type === "Default" &&
      node.operation.operator.endsWith("=")
    )
      add("*")
    if (node.type === "Command" && setsByName(node)) add("*")
    if (node.type === "Function" || node.type === "ArithmeticCommand" || node.type === "ArithmeticExpansion") add("*")
    forEachChild(node, (child) => visit(child, depth + 1))
  }
  visit(root, 0)
  return counts
}

/** Builtins that set variables by name. */
const SETTERS = new Set(
  "read mapfile readarray getopts let declare local export typeset readonly unset eval source . command builtin".split(
    " ",
  ),
)

function setsByName({ name, args }: Command): boolean {
  if (name === undefined) return false
  return (
    SETTERS.has(name.value) ||
    name.parts !== undefined ||
    (name.value === "printf" && args[0]?.text.startsWith("-") === true)
  )
}

/** Whether a `cd` is somewhere in it. */
function movesDirectory(root: SyntaxNode): boolean {
  let found = false
  const visit = (node: SyntaxNode, depth: number): void => {
    if (node.type === "Command" && !/^[\w./[-]+$/.test(node.name?.value ?? "ls")) found = true
    if (node.type === "Command" && /^(?:cd|pushd|popd|builtin|command|eval|\.|source)$/.test(node.name?.value ?? ""))
      found = true
    if (!found && depth < MOST_DEPTH * 2) forEachChild(node, (child) => visit(child, depth + 1))
    else found = true
  }
  visit(root, 0)
  return found
}
