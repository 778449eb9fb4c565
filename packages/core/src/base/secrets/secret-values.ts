/** Classifies single values: random or a word, a placeholder or a real secret. */

/** Whether a value is a placeholder, or code that reads a secret. */
function isPlaceholder(value: string): boolean {
  return (
    /^(?:[$%<{[(]|\.{2,}|-+$|[*xX•·#?_]{3,}|\/|~|\.\/|https?:)/.test(value) ||
    /[(){}\\]|=>|\[\d*\]|::|\?\./.test(value) ||
    isMember(value) ||
    /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value) || // the name of an environment variable
    /^(?:your|my|the|some|example|sample|dummy|placeholder|insert|enter)[-_]/i.test(value) ||
    /^(?:string|number|boolean|bool|str|int|any|unknown|void|object|null|undefined|none|nil|true|false|nan|optional|promise|buffer|secretstr|text|varchar|char|example|placeholder|redacted|hidden|masked|removed|n\/a|tbd|todo|yes|no|on|off)\b/i.test(
      value,
    )
  )
}

/** Matches member expressions and file names: `req.body.password`, `this.#token`, `secrets.yaml`. */
const isMember = (value: string): boolean =>
  /^[a-z_$][\w$]{0,24}(?:\.#?[a-z_$][\w$]{0,24})+$/i.test(value) && value.replace(/\D/g, "").length < 4

const hasLetter = (value: string) => /\p{L}/u.test(value)
const hasDigit = (value: string) => /\d/.test(value)

/** Whether a value looks generated: long enough, with letters and digits or both cases. */
export function looksRandom(value: string): boolean {
  if (isPlaceholder(value) || value.length < 8 || !hasLetter(value)) return false
  if (/^(?:v?\d+(?:\.\d+)+|\d{4}-\d{2}-\d{2}.*|\d+[a-z]{1,3})$/i.test(value)) return false // a version, a date, a size
  if (hasDigit(value)) return value.length >= 12 || /\d\D+\d|\p{L}\d+\p{L}/u.test(value)
  return (
    value.length >= 16 && /[a-z]/.test(value) && /[A-Z]/.test(value) && bitsPerCharacter(value) >= 3.5 && !isName(value)
  )
}

/** Whether a value consists of joined words: camelCase, kebab-case, a path. */
const isName = (value: string): boolean =>
  value.split(/[-_./]|(?<=[a-z])(?=[A-Z])/).every((part) => /^[A-Z]?[a-z]{2,}$|^[A-Z]{2,5}$/.test(part))

export function bitsPerCharacter(value: string): number {
  const counts = new Map<string, number>()
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1)
  return [...counts.values()].reduce(
    (bits, count) => bits - (count / value.length) * Math.log2(count / value.length),
    0,
  )
}

/** Words that can follow "the password is" without being a password. */
const ORDINARY = new Set(
  (
    "a about above absent accepted after again all already also always an and any apparently are as asked at available back bad base64 bcrypt be because been before being below " +
    "blank both broken but by called cannot case-sensitive changed checked clear compared complete compromised configured confidential correct current default defined deleted derived different done empty encrypted " +
    "enforced enough entered even exactly exposed fetched fine for found fresh from generated given gone good handled hard-coded hardcoded hashed here hidden identical if ignored in incorrect indeed insecure invalid " +
    "it its just kept known leaked like long longer loaded lost mandatory missing more most much my needed neither never new no none nonexistent nor not nothing now null obsolete of ok okay old on one only optional " +
    "or our out over passed per plain plaintext possibly present private probably prompted protected provided public read really required reset right rotated safe salted same saved secret secure sensitive sent set sha1 sha256 sha512 short " +
    "shown shared simple so still stored strong supplied taken temporary that the their then there these they this to too transmitted typed unchanged undefined under unique unknown unset unused up used useless valid very via visible " +
    "was weak what when where whether which with without wrong you your " +
    "abgelaufen alt auch bekannt das der die ein eine erforderlich falsch für gesetzt geändert gespeichert gültig im immer in leer lang kurz neu nicht nie noch nötig notwendig oder richtig sicher schwach so stark und ungültig unsicher veraltet verschlüsselt vom von wieder zu zurückgesetzt"
  ).split(" "),
)

/** Units and nouns that turn a number into a quantity. */
const QUANTITY =
  /^\s*(?:[-–]\s*\d+\s*)?(?:characters?|chars?|letters?|digits?|symbols?|bits?|bytes?|[kKmM]i?B\b|words?|tokens?|days?|hours?|minutes?|seconds?|ms\b|times|attempts?|%|or\b|zeichen|stellen|tage|stunden|minuten|sekunden)/i

export interface NamedValue {
  readonly value: string
  readonly isQuoted: boolean
  readonly after: string
}

/** Whether the value given for a password is really one. */
export function isPassword({ value, isQuoted, after }: NamedValue): boolean {
  if (value.length < 3 || isPlaceholder(value)) return false
  const lower = value.toLowerCase()
  if (ORDINARY.has(lower)) return false
  if (/^\d+$/.test(value)) return value.length >= 4 && !QUANTITY.test(after)
  if (hasDigit(value) || /[^\p{L}\p{M}\d_'’-]/u.test(value))
    return value.length >= 4 && !/^(?:v?\d+(?:\.\d+)+|\d+[-–]\w+)$/.test(value)
  if (isQuoted) return !/^(?:password|passwort|secret|token)$/i.test(value)
  if (/(?:ed|ing|able|ible|ly|less|iert)$/.test(lower)) return false
  if (/\p{Ll}\p{Lu}/u.test(value)) return value.length >= 6
  // one word without digits is a password only if nothing else follows in the sentence
  return value.length >= 4 && /^\s*(?:$|[.,;!?)\]|*_`"'\n]|(?:for|on|at|and|für|und|auf)\b)/.test(after)
}

export function isCredentialPair(base64: string): boolean {
  const text = Buffer.from(base64, "base64").toString("latin1")
  return /^[\x20-\x7e]+:[\x20-\x7e]+$/.test(text)
}

/** Checks the issuer's length and first digits, and the check digit. */
export function isCardNumber(text: string): boolean {
  const digits = text.replace(/\D/g, "")
  const isIssued =
    /^(?:4\d{12}(?:\d{3})?(?:\d{3})?|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|3[47]\d{13}|6(?:011|5\d{2})\d{12}|3(?:0[0-5]|[68]\d)\d{11})$/.test(
      digits,
    )
  return isIssued && !/^(\d)\1+$/.test(digits) && luhnSum(digits) % 10 === 0
}

function luhnSum(digits: string): number {
  return [...digits].reverse().reduce((sum, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1)
    return sum + (value > 9 ? value - 9 : value)
  }, 0)
}
