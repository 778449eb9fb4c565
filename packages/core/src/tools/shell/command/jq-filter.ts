/** Filters of jq, given as a word. They are taken apart into tokens, and only functions that compute pass: none shows the environment, a module or a path. */
import { Cursor } from "./cursor.ts"

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

const FUNCTIONS =
  words(`abs add all any arrays ascii ascii_downcase ascii_upcase asin acos atan atan2 booleans bsearch capture cbrt ceil
  combinations contains cos date dateadd datesub debug del delpaths empty endswith error exp exp10 exp2 explode fabs finites first flatten
  floor fmax fmin fmod from_entries fromdate fromdateiso8601 fromjson fromstream getpath gmtime group_by gsub has implode in index indices
  infinite input inputs inside isempty isinfinite isnan isnormal isvalid iterables join keys keys_unsorted last leaf_paths length limit
  localtime log log10 log2 ltrim ltrimstr map map_values match max max_by min min_by mktime nan normals not now nth nulls numbers objects
  path paths pick pow range recurse reverse rindex round rtrim rtrimstr scalars scan select setpath sin skip sort sort_by split splits sqrt
  startswith strflocaltime strftime strings strptime sub tan test to_entries toarray toboolean todate todateiso8601 tojson tonumber tostream
  tostring transpose trim trimstr trunc truncate_stream type unique unique_by until utf8bytelength values walk while with_entries
  IN INDEX GROUP_BY UNIQUE_BY true false null`)
const KEYWORDS = words("if then elif else end as def reduce foreach try catch label break and or")
/** A function that the filter defines: no version has one of this name. */
const OWN_FUNCTION = /^[a-z]$/
const FORMATS = words("@text @json @html @uri @urid @csv @tsv @sh @base64 @base64d @base32 @base32d")

const BLANK = /[ \t\n]+/y
const COMMENT = /#[^\n]*/y
const FIELD = /\.[A-Za-z_]\w*(?!\w*::)/y
const VARIABLE = /\$[A-Za-z_]\w*(?!\w*::)/y
const NAME = /[A-Za-z_]\w*(?!\w*::)/y
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y
const FORMAT = /@[a-z]\w*/y
const OPERATOR = /\?\/\/=?|\/\/=?|\.\.|[-+*/%|=!<>]=|[-+*/%|,=<>?:;.]/y
const IN_STRING = /(?:[^"\\]|\\["\\/bfnrtu])*/y

export function isHarmlessJq(filter: string): boolean {
  const cursor = new Cursor(filter)
  return takeFilter(cursor, { isObject: false }) && cursor.isAtEnd
}

const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" }

/** Up to a closing bracket or the end. `isObject`: an object is being built, so names may be keys. */
function takeFilter(cursor: Cursor, { isObject }: { readonly isObject: boolean }): boolean {
  let isKey = isObject
  for (;;) {
    if (cursor.take(BLANK) !== undefined) continue
    const comment = cursor.take(COMMENT)
    if (comment !== undefined) {
      if (/[\\\r]/.test(comment)) return false // newer versions go on after a backslash at the end
      continue
    }
    if (cursor.isAtEnd || cursor.look(/[)\]}]/y) !== undefined) return true
    const opening = cursor.take(/[([{]/y)
    if (opening !== undefined) {
      if (!takeFilter(cursor, { isObject: opening === "{" })) return false
      if (cursor.text[cursor.at++] !== CLOSING[opening]) return false
    } else if (!takeToken(cursor, { isKey })) return false
    isKey = isObject && cursor.text[cursor.at - 1] === ","
  }
}

function takeToken(cursor: Cursor, { isKey }: { readonly isKey: boolean }): boolean {
  if (cursor.take(/"/y) !== undefined) return takeString(cursor)
  if (cursor.take(FIELD) !== undefined || cursor.take(NUMBER) !== undefined) return true
  const variable = cursor.take(VARIABLE)
  if (variable !== undefined) return !/^\$(?:ENV$|__)/.test(variable)
  const format = cursor.take(FORMAT)
  if (format !== undefined) return FORMATS.has(format)
  const name = cursor.take(NAME)
  if (name !== undefined) return isKey || KEYWORDS.has(name) || FUNCTIONS.has(name) || OWN_FUNCTION.test(name)
  return cursor.take(OPERATOR) !== undefined
}

/** After the opening quote. `\(…)` holds a filter. */
function takeString(cursor: Cursor): boolean {
  for (;;) {
    cursor.take(IN_STRING)
    if (cursor.take(/"/y) !== undefined) return true
    if (cursor.take(/\\\(/y) === undefined || !takeFilter(cursor, { isObject: false })) return false
    if (cursor.take(/\)/y) === undefined) return false
  }
}
