// Copy: puts a text into the clipboard; as curl, a request that shows what the page shows.
import { Button } from './button.tsx';
import { toast } from './toast.tsx';

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    toast('The browser does not let this page copy.');
  }
}

export const Copy = ({ text, what, children }: { text: string; what: string; children: string }) => (
  <Button small kind="quiet" onClick={() => void copy(text, what)}>
    {children}
  </Button>
);

/** The key stays out of it: whoever pastes it has one. */
export const curlOf = (path: string, open: boolean): string =>
  `curl '${location.origin}${path}'${open ? '' : ' -H "authorization: Bearer $RECOUP_KEY"'}`;

export const CopyCurl = ({ path }: { path: string }) => (
  <Copy text={curlOf(path, false)} what="The request">
    Copy as curl
  </Copy>
);
