/** An attribute that things have, the ways to say it, and values that exclude each other. `{p}` is the thing, `{v}` the value. */
export interface Attribute {
  readonly name: string
  readonly ways: readonly string[]
  readonly values: readonly string[]
}

export const attribute = (name: string, ways: readonly string[], values: string): Attribute => ({
  name,
  ways,
  values: values.split("; "),
})
