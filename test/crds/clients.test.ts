/** The clients that an export names: hostile until they are read. */
import { describe, expect, it } from 'vitest';
import { CLIENTS_MAX_LENGTH, clientsText, MAX_CLIENTS, readClients } from '../../crds/clients.ts';
import { formatFieldErrors } from '../../crds/field-error.ts';

describe('the clients of an export (M3)', () => {
  it('are read as they are written', () => {
    const clients = [
      { namespace: 'shop', serviceAccount: 'web' },
      { namespace: 'shop', serviceAccount: 'cart.v2', trustDomain: 'east.example.com' },
    ];
    expect(clientsText(clients)).toBe('shop/web,shop/cart.v2@east.example.com');
    expect(readClients(` ${clientsText(clients).replace(',', ' , ')} `)).toEqual({ ok: true, value: clients });
    expect(readClients(clientsText('everyone'))).toEqual({ ok: true, value: 'everyone' });
    expect(readClients('')).toEqual({ ok: true, value: [] });
  });

  it.each([
    'web',
    'shop/web,',
    '*,shop/web',
    'shop/*',
    'Shop/web',
    'shop/web@',
    'shop/web@a@b',
    'shop/web/x',
    'shop/w eb',
  ])('name nobody if one of them is invalid: %j', (text) => {
    const read = readClients(text);
    expect(read.ok ? 'valid' : formatFieldErrors(read.errors)).toContain('must be a valid client');
  });

  it('are bounded before they are parsed', () => {
    const long = readClients('a'.repeat(CLIENTS_MAX_LENGTH + 1));
    expect(long.ok ? '' : formatFieldErrors(long.errors)).toContain('must have at most 8192 characters');
    const many = readClients(Array.from({ length: MAX_CLIENTS + 1 }, () => 'a/b').join(','));
    expect(many.ok ? '' : formatFieldErrors(many.errors)).toContain('must name at most 64 clients');
  });
});
