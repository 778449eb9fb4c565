/**
 * Secrets that were encoded: base64, with either alphabet and over several lines, and hexadecimal digits. A run of such characters is
 * decoded and searched like any text. What was encoded twice is found too.
 */
import type { SecretRule } from "./secret-rule.ts"

type FindSecrets = (text: string, depth: number) => readonly unknown[]

const MOST_LAYERS = 2
/** The shortest token that is recognised by its form has 20 characters: 27 in base64, 40 in hexadecimal digits. */
const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}(?:\r?\n[ \t]*[A-Za-z0-9+/_-]{4,})*={0,2}/
const HEX = /(?<![A-Za-z0-9])(?:0x)?(?:[0-9A-Fa-f]{2}){20,}(?![A-Za-z0-9])/
const LONGEST = 200_000 // characters of one run: no secret is longer, and images are
const LEAST_PRINTABLE = 16 // characters in a row that a text in the decoded bytes has at least

export const encodedSecrets = (find: FindSecrets, depth: number): readonly SecretRule[] =>
  depth >= MOST_LAYERS
    ? []
    : [
        {
          kind: "encoded secret",
          pattern: new RegExp(BASE64, "dg"), // its own: a search inside a search must not move the other
          isSecret: ({ value }) => fromBase64(value).some((text) => find(text, depth + 1).length > 0),
        },
        {
          kind: "encoded secret",
          pattern: new RegExp(HEX, "dg"),
          isSecret: ({ value }) =>
            textsIn(Buffer.from(value.replace(/^0x/, ""), "hex")).some((text) => find(text, depth + 1).length > 0),
        },
      ]

/** A run may begin with up to three characters that belong to the text before it. */
function fromBase64(run: string): readonly string[] {
  const joined = run.slice(0, LONGEST).replace(/\s+/g, "")
  return [0, 1, 2, 3].flatMap((start) => textsIn(Buffer.from(joined.slice(start), "base64")))
}

const textsIn = (bytes: Buffer): readonly string[] =>
  bytes.toString("latin1").match(new RegExp(`[\\t\\r\\n\\x20-\\x7e]{${LEAST_PRINTABLE},}`, "g")) ?? []
