/**
 * The subset of shell syntax that Strata parses exactly, byte by byte. Syntax that is not listed here is outside it, and there is no
 * fallback. bash, dash, ksh, busybox and zsh all interpret these lines in the same way.
 *
 *     line        = pipeline { ( "&&" | "||" | ";" | newline ) pipeline }
 *     pipeline    = command { "|" command }
 *     command     = { NAME "=" word } word { word | redirection }
 *     redirection = [ "0" ] "<" word  |  [ "1" | "2" ] ( ">" | ">>" ) word  |  [ "1" | "2" ] ">&" ( "1" | "2" )
 *     word        = { plain character | "*" | "?" | '…' | "…" | "\" character }
 *
 * Only the file patterns `*` and `?` are expanded: no variables, substitutions, braces, tildes, history, here-documents, functions or
 * subshells. Assignments and redirections to files are parsed, and need a rule or the user's approval.
 */

export interface SmallWord {
  /** Text of the argument, if the word is not a file pattern. */
  readonly text: string
  /** Regular expressions for the parts of the path, if the word is a file pattern. */
  readonly pattern?: readonly string[]
}

export interface SmallRedirection {
  readonly kind: "read" | "write"
  readonly target: SmallWord
  readonly start: number
  readonly end: number
}

export interface SmallCommand {
  readonly assignments: readonly { readonly name: string; readonly value: string }[]
  readonly words: readonly SmallWord[]
  readonly redirections: readonly SmallRedirection[]
}

export interface SmallPipeline {
  readonly commands: readonly SmallCommand[]
  /** Separator before the next pipeline. */
  readonly then: "&&" | "||" | ";" | undefined
}

export type SmallLine =
  | { readonly state: "read"; readonly pipelines: readonly SmallPipeline[] }
  /** `why` is a sentence for the user. */
  | { readonly state: "outside"; readonly why: string }

/** Characters that are literal in every shell, anywhere in a word except its start. */
const PLAIN = /[A-Za-z0-9_./:=@%+,^-]/
/** Characters after which a tilde is literal: `HEAD~1`. */
const BEFORE_TILDE = /[A-Za-z0-9_^~]/
/** Literal characters at the start of a word. `=` is excluded, because `=ls` is a path in zsh. */
const STARTS_PLAIN = /[A-Za-z0-9_./:@%+,^-]/
const PRINTABLE = /[ -~]/
const IN_QUOTES = /[^\p{Cc}]|[\n\t]/u
/** Following characters that make a dollar sign in double quotes literal: `"\.ts$"`. */
const LITERAL_DOLLAR = /^\$["|) /\\]$/
/** Reserved words, which the shell interprets at the start of a command. */
const RESERVED = new Set(
  "if then else elif fi do done case esac while until for in function select time coproc repeat foreach end always nocorrect noglob".split(
    " ",
  ),
)

/** Descriptions of syntax outside the supported subset. */
const OUTSIDE: Readonly<Record<string, string>> = {
  $: "$, which is replaced when the line runs",
  "`": "backquotes, which run another command",
  "(": "parentheses",
  ")": "parentheses",
  "{": "braces",
  "}": "braces",
  "&": "&",
  "<": "<< or <(",
  ">": "unusual redirections",
  "~": "~ for a directory",
  "[": "square brackets",
  "#": "comments",
  "!": "!",
}

class Outside extends Error {
  /** `what` follows "lines with". */
  constructor(what: string) {
    super(`Without a sandbox, Strata asks about lines with ${what}.`)
  }
}

/** Parses a line from left to right, character by character. */
class Reader {
  #at = 0
  readonly #line: string

  constructor(line: string) {
    this.#line = line
  }

  get #next(): string {
    return this.#line[this.#at] ?? ""
  }

  #starts(text: string): boolean {
    return this.#line.startsWith(text, this.#at)
  }

  #take(text: string): boolean {
    if (!this.#starts(text)) return false
    this.#at += text.length
    return true
  }

  #outside(): never {
    throw new Outside(OUTSIDE[this.#next] ?? "an open end, or characters that shells read in different ways")
  }

  /** Skips blanks and escaped line ends between words. */
  #skip(blanks: string): void {
    while ((this.#next !== "" && blanks.includes(this.#next)) || this.#starts("\\\n"))
      this.#at += this.#next === "\\" ? 2 : 1
  }

  line(): readonly SmallPipeline[] {
    const pipelines: SmallPipeline[] = []
    this.#skip(" \t\n")
    while (this.#next !== "") {
      const commands = this.#pipeline()
      const then = this.#separator()
      pipelines.push({ commands, then })
      if (then === undefined || (then === ";" && this.#next === ""))
        return this.#next === "" ? pipelines : this.#outside()
    }
    return this.#outside()
  }

  #separator(): SmallPipeline["then"] {
    for (const sign of ["&&", "||"] as const) {
      if (!this.#take(sign)) continue
      this.#skip(" \t\n")
      return sign
    }
    if (this.#starts(";;") || !(this.#take(";") || this.#starts("\n"))) return undefined
    this.#skip(" \t\n")
    return ";"
  }

  #pipeline(): readonly SmallCommand[] {
    const commands = [this.#command()]
    while (!this.#starts("||") && this.#take("|")) {
      this.#skip(" \t\n")
      commands.push(this.#command())
    }
    return commands
  }

  #command(): SmallCommand {
    const assignments: { name: string; value: string }[] = []
    const words: SmallWord[] = []
    const redirections: SmallRedirection[] = []
    for (;;) {
      const redirection = this.#redirection()
      if (redirection === "copy") continue
      if (redirection) redirections.push(redirection)
      else if (/[|;\n]|^$/.test(this.#next) || this.#starts("&&")) break
      else {
        const start = this.#at
        const word = this.#word()
        const assigned = words.length === 0 ? /^([A-Za-z_]\w*)=/.exec(this.#line.slice(start, this.#at)) : null
        if (!assigned) words.push(word)
        else if (word.pattern) this.#outside()
        else assignments.push({ name: assigned[1]!, value: word.text.slice(assigned[0].length) })
      }
      this.#skip(" \t")
    }
    const [program] = words
    if (program && RESERVED.has(program.text)) throw new Outside(`"${program.text}"`)
    if (!program || program.pattern) this.#outside()
    return { assignments, words, redirections }
  }

  /** Parses a redirection. `"copy"`: one stream is redirected to another. */
  #redirection(): SmallRedirection | "copy" | undefined {
    const start = this.#at
    const sign = /^(?:[12]?>&[12](?=[ \t\n|&;]|$)|[12]?>>?|0?<)/.exec(this.#line.slice(start, start + 5))?.[0]
    if (sign === undefined) return undefined
    this.#at += sign.length
    if (sign.includes("&")) {
      this.#skip(" \t")
      return "copy"
    }
    if (/[<>&|(]/.test(this.#next)) this.#outside()
    this.#skip(" \t")
    const target = this.#word()
    if (target.pattern) this.#outside()
    return { kind: sign.endsWith("<") ? "read" : "write", target, start, end: this.#at }
  }

  #word(): SmallWord {
    const start = this.#at
    let text = ""
    let pattern = ""
    let isPattern = false
    const add = (character: string) => {
      text += character
      pattern += character.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
    }
    for (; !/[ \t\n|&;<>]|^$/.test(this.#next); this.#at++) {
      const character = this.#next
      if (character === "'") for (const inner of this.#quoted("'")) add(inner)
      else if (character === '"') for (const inner of this.#quoted('"')) add(inner)
      else if (character === "\\") {
        this.#at++
        if (!PRINTABLE.test(this.#next)) this.#outside()
        add(this.#next)
      } else if (character === "*" || character === "?") {
        isPattern = true
        text += character
        pattern += character === "*" ? ".*" : "."
      } else if (character === "~" && this.#at > start && BEFORE_TILDE.test(this.#line[this.#at - 1]!)) add(character)
      else if (this.#isBracket(start) || this.#isLastDollar()) add(character)
      else if ((this.#at === start ? STARTS_PLAIN : PLAIN).test(character)) add(character)
      else this.#outside()
    }
    const isDescriptor = /^\d+$/.test(this.#line.slice(start, this.#at)) && /[<>]/.test(this.#next)
    if (this.#at === start || isDescriptor) this.#outside()
    return isPattern ? { text, pattern: pattern.split("/") } : { text }
  }

  /** Whether a dollar sign is at the end of a word, where it is literal: `ts$`. */
  #isLastDollar(): boolean {
    return /^\$(?:[ \t\n|;]|$)/.test(this.#line.slice(this.#at, this.#at + 2))
  }

  /** Whether `[` or `]` is a separate word: a test, or its end. */
  #isBracket(start: number): boolean {
    return this.#at === start && /^[[\]](?:[ \t\n|&;<>]|$)/.test(this.#line.slice(start, start + 2))
  }

  /**
   * Parses a quoted string and ends at the closing quotation mark. In double quotes, a backslash is literal unless it precedes one of four
   * characters.
   */
  #quoted(mark: string): string {
    let text = ""
    for (this.#at++; this.#next !== mark; this.#at++) {
      const character = this.#line.codePointAt(this.#at)
      if (character === undefined) throw new Outside("a quotation mark that is not closed")
      const shown = String.fromCodePoint(character)
      const isExpanded =
        mark === '"' &&
        (shown === "`" || (shown === "$" && !LITERAL_DOLLAR.test(this.#line.slice(this.#at, this.#at + 2))))
      if (!IN_QUOTES.test(shown) || isExpanded) this.#outside()
      if (mark === '"' && shown === "\\") {
        const after = this.#line[this.#at + 1] ?? ""
        if (!PRINTABLE.test(after)) this.#outside()
        this.#at++
        text += /["\\$`]/.test(after) ? after : `\\${after}`
        continue
      }
      text += shown
      this.#at += shown.length - 1
    }
    return text
  }
}

export function readSmallLine(line: string): SmallLine {
  try {
    return { state: "read", pipelines: new Reader(line).line() }
  } catch (error) {
    if (error instanceof Outside) return { state: "outside", why: error.message }
    throw error
  }
}
