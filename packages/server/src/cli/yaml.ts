// YAML that a person wrote: its value, or what is wrong with it.
import { InvalidInput } from 'recoup';
import { Composer, type CST, Lexer, Parser } from 'yaml';

/** No file of ours nests further than a handful. */
const MAX_DEPTH = 50;
const MAX_ALIASES = 100;

/**
 * The value of a text; null of an empty one. Refuses, naming `field`, what is no YAML (`words` in front of the reason), holds more than one
 * document, is nested more than 50 deep or repeats itself by more than 100 aliases.
 */
export function readYaml(field: string, text: string, words = 'is not YAML'): unknown {
  const [document, more] = [...new Composer({ logLevel: 'error' }).compose(tokens(field, text), true, text.length)];
  const [wrong] = document!.errors;
  if (wrong) throw new InvalidInput(field, `${words}: ${wrong.message.split('\n')[0]}`);
  if (more) throw new InvalidInput(field, `${words}: it must hold one document`);
  try {
    return document!.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    throw new InvalidInput(field, `repeats itself by more than ${MAX_ALIASES} aliases`);
  }
}

/**
 * What the text is made of. The lexer and the parser keep a stack of their own, the composer recurses: a few kilobytes of `[` would exhaust the
 * stack there, and V8 ends the process where it has to compile an expression with none left. So the depth is seen here.
 */
function* tokens(field: string, text: string): Generator<CST.Token, void> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > MAX_DEPTH) throw new InvalidInput(field, `must be nested at most ${MAX_DEPTH} deep`);
  }
  yield* parser.end();
}
