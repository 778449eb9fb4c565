/**
 * Splits TypeScript into comments, string literals and code, for checks that read only one of them. This is not a parser. It knows just
 * enough about strings, templates and regular expressions to find where each one ends.
 */
export type SourcePart = { readonly kind: "comment" | "string" | "code"; readonly text: string; readonly line: number }

/** Matches code after which a slash starts a regular expression. After anything else it is a division. */
const BEFORE_REGEXP = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|case|typeof|in|of|await|yield))\s*$/
const REGEXP = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
const QUOTED = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/y
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y

export function sourceParts(source: string): readonly SourcePart[] {
  const parts: SourcePart[] = []
  let code = ""
  let at = 0
  let line = 1
  const take = (kind: SourcePart["kind"], text: string) => {
    parts.push({ kind, text, line })
    line += text.split("\n").length - 1
  }
  const flush = () => {
    if (code) take("code", code)
    code = ""
  }
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(source)?.[0]
  }
  /** Number of open braces in the code of each template that is being read. */
  const templates: number[] = []
  const readTemplate = () => {
    const end = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*/y
    const text = match(end) ?? ""
    flush()
    if (text) take("string", text)
    at += text.length
    if (source[at] === "`") {
      code += "`"
      at += 1
    } else if (source[at] === "$") {
      code += "${"
      at += 2
      templates.push(0)
    }
  }
  while (at < source.length) {
    const character = source[at]!
    const comment = character === "/" ? match(COMMENT) : undefined
    const quoted = character === '"' || character === "'" ? match(QUOTED) : undefined
    const regexp = character === "/" && !comment && BEFORE_REGEXP.test(code.slice(-40)) ? match(REGEXP) : undefined
    if (comment || quoted) {
      flush()
      take(comment ? "comment" : "string", comment ?? quoted!.slice(1, -1))
      at += (comment ?? quoted!).length
    } else if (regexp) {
      code += regexp
      at += regexp.length
    } else if (character === "`") {
      code += character
      at += 1
      readTemplate()
    } else if (character === "}" && templates.at(-1) === 0) {
      templates.pop()
      code += character
      at += 1
      readTemplate()
    } else {
      if (templates.length > 0 && character === "{") templates[templates.length - 1]! += 1
      if (templates.length > 0 && character === "}") templates[templates.length - 1]! -= 1
      code += character
      at += 1
    }
  }
  flush()
  return parts
}

export const isTestFile = (file: string): boolean => /\.test\.tsx?$/.test(file)
