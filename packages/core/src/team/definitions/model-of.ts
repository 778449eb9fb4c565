/** The model that a definition names: an id, or a family of models such as `sonnet`. */
import { MODEL_FACTS } from "../../tokens/model-facts.ts"

const FAMILIES: ReadonlySet<string> = new Set(["opus", "sonnet", "haiku", "fable", "mythos"])

/** Whether the name is a family of Claude models, not the id of one. */
export const isModelFamily = (name: string): boolean => FAMILIES.has(name.toLowerCase())

/** A model id, or `undefined` for the model of its parent. A family means its newest model in the model table that has a price. */
export function modelOf({ model }: { readonly model?: string | undefined }): string | undefined {
  const name = model?.toLowerCase()
  if (name === undefined || name === "inherit") return undefined
  if (!isModelFamily(name)) return model
  return MODEL_FACTS.find(({ id, price }) => id.startsWith(`claude-${name}-`) && price !== undefined)?.id
}
