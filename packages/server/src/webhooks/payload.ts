// Reading fields of payloads that others define: what is needed must be there, the rest is taken as it comes.
import { InvalidInput } from 'recoup';

export function needText(payload: Record<string, unknown>, field: string): string {
  const value = payload[field];
  if (typeof value !== 'string' || value === '') throw new InvalidInput(field, 'must be a string that is not empty');
  return value;
}

/** An error of a provider, whatever its shape, as a line for people. */
export function reasonOf(error: unknown, otherwise: string): string {
  if (typeof error === 'string' && error !== '') return error;
  if (error === null || error === undefined) return otherwise;
  try {
    return JSON.stringify(error);
  } catch {
    // Nested deeper than anybody reads.
    return otherwise;
  }
}

export const header = (headers: Readonly<Record<string, string | string[] | undefined>>, name: string): string => {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
};
