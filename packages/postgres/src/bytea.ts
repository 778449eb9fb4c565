/** Bytes as the server writes them: in digits, or as a role or a database may have it (`bytea_output`), as text with escapes. */

const BACKSLASH = 0x5c
const ESCAPE = 3 // digits, of base 8

export function bytesIn(text: string): Buffer {
  // in the other form a backslash is doubled, so it cannot begin like this
  return text.startsWith("\\x") ? Buffer.from(text.slice(2), "hex") : unescaped(Buffer.from(text, "latin1"))
}

function unescaped(text: Buffer): Buffer {
  let length = 0
  for (let at = 0; at < text.length; length++) {
    const isEscape = text[at] === BACKSLASH
    const isDoubled = isEscape && text[at + 1] === BACKSLASH
    // what is written is never after what is read
    if (isEscape && !isDoubled) text[length] = Number.parseInt(text.toString("latin1", at + 1, at + 1 + ESCAPE), 8)
    else text[length] = text[at]!
    at += isDoubled ? 2 : isEscape ? 1 + ESCAPE : 1
  }
  return text.subarray(0, length)
}
