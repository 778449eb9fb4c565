/** Small programs that are given as a word: scripts of sed and awk, filters of jq. Only those that cannot write, run or read elsewhere pass. */

/** In brackets a slash is an ordinary sign, and so is a backslash: one before the closing bracket is read in two ways, and does not pass. */
const BRACKETS = String.raw`\[\^?\]?(?:\[:[a-z]+:\]|(?!\[[:.=])[^\]\\\n]|\\[^\]\n])*\]`
const ADDRESS = new RegExp(String.raw`^(?:\d+(?:~\d+)?|\$|[+~]\d+|/(?:[^/\\\n[]|\\.|${BRACKETS})*/[IM]*)`)
const SPACE = /^[\s;]*/
/** Without text, file names or labels after them. */
const PLAIN_COMMAND = /^(?:[pdPDnNhHgGxz=F]|[lqQ]\s*\d*)(?=\s*(?:$|[;}\n]))/
const CASE = /^y([^\w\s\\])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1/
const SUBSTITUTION = new RegExp(
  String.raw`^s([^\w\s\\])(?:(?!\1)[^\\[]|\\[\s\S]|${BRACKETS})*\1(?:(?!\1)[^\\]|\\[\s\S])*\1[gpiIm\d]*(?=\s*(?:$|[;}\n]))`,
)

/** Prints, deletes and replaces lines, and nothing else: no `w`, `r`, `e`. */
export function isHarmlessSed(script: string): boolean {
  let rest = script
  const take = (form: RegExp): boolean => {
    const match = form.exec(rest)
    if (!match) return false
    rest = rest.slice(match[0].length)
    return true
  }
  for (let depth = 0; ; ) {
    take(SPACE)
    if (rest === "") return depth === 0
    if (rest.startsWith("#")) {
      if (!take(/^#[^\n]*/)) return false
      continue
    }
    if (take(ADDRESS)) {
      take(/^\s*/)
      if (rest.startsWith(",") && !(take(/^,\s*/) && take(ADDRESS))) return false
    }
    take(/^\s*!*\s*/)
    if (take(/^\{/)) depth++
    else if (take(/^\}/)) depth--
    else if (!take(PLAIN_COMMAND) && !take(SUBSTITUTION) && !take(CASE)) return false
    if (depth < 0) return false
  }
}

/** Reads other files, runs programs, shows the environment, or calls what is named in a variable. */
const AWK_REACHES_OUT =
  /(?<![A-Za-z_])(?:system|getline|close|fflush|ENVIRON|PROCINFO|ARGV|ARGC|SYMTAB|FUNCTAB)\b|@|\binet\b|(?<!\|)\|(?!\|)/

/** `print > "f"` writes. A comparison before the first `print` of a statement does not. */
export function isHarmlessAwk(program: string): boolean {
  const hasRegexp = program.includes("/")
  // a quote in a comment starts no string, so both are taken in order
  const bare = hasRegexp ? program : program.replace(/"(?:[^"\\\n]|\\[\s\S])*"|#[^\n]*/g, '""')
  if (AWK_REACHES_OUT.test(bare)) return false
  return hasRegexp ? !/print[\s\S]*>/.test(bare) : !/print[^;}]*>/.test(bare)
}

/** `env` and `$ENV` show the environment; modules are files. */
export const isHarmlessJq = (filter: string): boolean =>
  !/(?<![.\w$])env\b|\$\s*ENV|\$\s*__|\b(?:import|include|modulemeta|get_search_list|input_filename|halt_error)\b/.test(
    filter,
  )
