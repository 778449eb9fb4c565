/** The tools for work on files, in the order in which the model is told of them: fixed, since it is part of what is cached. */

import type { Tool } from "../tool.ts"
import { edit } from "./edit.ts"
import { glob } from "./glob.ts"
import { grep } from "./grep.ts"
import { read } from "./read.ts"
import { write } from "./write.ts"

/** Inputs differ from tool to tool; each is checked against its own schema before it gets there. */
export const fileTools = [read, write, edit, glob, grep] as unknown as readonly Tool[]
