/**
 * Programs of awk, given as a word. They are taken apart into tokens as gawk, mawk, the original awk and busybox do, and what they read
 * differently does not pass. Nothing in it may write, run a program, read another file or show the environment.
 */
import { Cursor } from "./cursor.ts"

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

const FUNCTIONS =
  words(`atan2 cos exp gensub gsub index int length log match mktime rand sin split sprintf sqrt srand strftime strtonum sub
  substr systime tolower toupper asort asorti and or xor compl lshift rshift`)
const KEYWORDS = words(
  "BEGIN END if else while for do break continue next nextfile exit return delete in function print printf",
)
/** Any other name in capitals may be one that some awk fills in. */
const VARIABLES = words("NF NR FNR FS OFS ORS RS RT FILENAME SUBSEP RSTART RLENGTH CONVFMT OFMT IGNORECASE")
const REACHES_OUT = words(`system getline close fflush func switch case default extension load include namespace
  ENVIRON PROCINFO ARGV ARGC SYMTAB FUNCTAB`)
/** After these some awks take a slash for a division, others for a regexp. */
const STARTS_REGEXP = words("/ ++ -- length")
const HAS_CONDITION = words("if while for")

const BLANK = /(?:[ \t]|(?<!\w)\\\n)+/y
const COMMENT = /#[^\n]*/y
const STRING = /"(?:[^"\\\n]|\\[^\n])*"/y
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w)/y
const NAME = /[A-Za-z_]\w*/y
/** A slash in brackets ends it for some, and a bracket in brackets is read in two ways. */
const REGEXP = /\/(?:[^/\\\n[]|\\[^\n]|\[(?!\^?\])(?:\[:[a-z]+:\]|[^\]\\\n/[]|\\[^\]\n[])*\])*\//y
const OPERATOR = /\+\+|--|\|\||&&|[-+*/%^=!<>]=|!~|[-+*/%^=!<>~?:,;{}()[\]$]|\n/y

class Program {
  readonly cursor: Cursor
  /** After an operand a slash divides. */
  isAfterOperand = false
  /** For each open parenthesis, whether it holds a condition. */
  readonly open: boolean[] = []
  /** How many parentheses were open at the `print` that this is part of. */
  printing: number | undefined
  /** The name or sign just before, where it matters. */
  last = ""
  readonly defined = new Set<string>()
  readonly called = new Set<string>()

  constructor(text: string) {
    this.cursor = new Cursor(text)
  }

  isHarmless(): boolean {
    while (!this.cursor.isAtEnd) if (!this.#step()) return false
    return this.open.length === 0 && [...this.called].every((name) => this.defined.has(name))
  }

  #step(): boolean {
    const { cursor } = this
    if (cursor.take(BLANK) !== undefined) return true
    if (cursor.look(COMMENT) !== undefined) return !cursor.take(COMMENT)!.endsWith("\\")
    if (cursor.take(STRING) !== undefined || cursor.take(NUMBER) !== undefined) return this.#operand()
    const name = cursor.take(NAME)
    if (name !== undefined) return this.#name(name)
    // after a condition some awks take a slash for a division
    if (cursor.look(/\//y) !== undefined && !this.isAfterOperand)
      return this.last !== ")" && cursor.take(REGEXP) !== undefined && this.#operand("/")
    const operator = cursor.take(OPERATOR)
    return operator !== undefined && this.#operator(operator)
  }

  #operand(last = ""): boolean {
    this.isAfterOperand = true
    this.last = last
    return true
  }

  /** What comes next starts an expression. */
  #start(last = ""): boolean {
    this.isAfterOperand = false
    this.last = last
    return true
  }

  #name(name: string): boolean {
    if (REACHES_OUT.has(name)) return false
    if (name === "print" || name === "printf") this.printing = this.open.length
    if (KEYWORDS.has(name)) return this.#start(name)
    const isCall = this.cursor.look(/[ \t]*\(/y) !== undefined
    if (FUNCTIONS.has(name)) {
      if (!isCall) return name === "length" && this.#operand(name)
      return this.#start(name)
    }
    if (/^[A-Z_\d]{3,}$/.test(name) && !VARIABLES.has(name)) return false
    if (this.last === "function") this.defined.add(name)
    else if (this.cursor.look(/\(/y) !== undefined) this.called.add(name)
    return this.#operand()
  }

  #operator(operator: string): boolean {
    const { open, last, isAfterOperand } = this
    switch (operator) {
      case "(":
        open.push(HAS_CONDITION.has(last))
        return this.#start()
      case ")": {
        const isCondition = open.pop()
        if (isCondition === undefined || (this.printing ?? 0) > open.length) return false
        return isCondition ? this.#start(")") : this.#operand()
      }
      case "]":
        return this.#operand()
      case "++":
      case "--":
        return this.#operand(operator)
      case "\n":
        if (open.length > 0) return false
        if (isAfterOperand || last.startsWith("print")) this.printing = undefined
        return this.#start()
      case ";":
      case "}":
        if (this.printing === open.length) this.printing = undefined
        return this.#start()
      case ">":
      case ">=":
        return this.printing === undefined && this.cursor.look(/>/y) === undefined && this.#start()
      case ":":
        return this.cursor.look(/:/y) === undefined && this.#start() // a name of another namespace
      case "/":
      case "/=":
        return !STARTS_REGEXP.has(last) && this.#start()
      default:
        return this.#start()
    }
  }
}

export const isHarmlessAwk = (program: string): boolean => new Program(program).isHarmless()
