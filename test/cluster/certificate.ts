/**
 * The serving certificate of every test cluster: self-signed, for 127.0.0.1, valid for a hundred years. Checked in, so
 * that no start pays for key generation; the key guards nothing but test data on loopback. It is an elliptic-curve key:
 * tests make thousands of connections, and an RSA signature for each costs API servers more than the requests do.
 */

/** The certificate, which is also its own CA, in PEM. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBrjCCAVSgAwIBAgIULM6/9NW6gBzTRzg/rKaccGoBA8wwCgYIKoZIzj0EAwIw
IzEhMB8GA1UEAwwYc2ltdWxhdGVkLWt1YmUtYXBpc2VydmVyMCAXDTI2MTEyMTA3
NDkyNFoYDzIxMjYxMDI4MDc0OTI0WjAjMSEwHwYDVQQDDBhzaW11bGF0ZWQta3Vi
ZS1hcGlzZXJ2ZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQnrLCjYm6iawhP
OohZmp6tkEw0Hdubgrav6vR6lfLoZpsR37rXmN5UIgUHJOavDBVA4BtQx7B8Me8g
NTnXMDl2o2QwYjAdBgNVHQ4EFgQUvXPeP92l7bpcpkheWxfK0G2KZHowHwYDVR0j
BBgwFoAUvXPeP92l7bpcpkheWxfK0G2KZHowDwYDVR0RBAgwBocEfwAAATAPBgNV
HRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIHvw7oQGDtrzAUpwo544rnOo
rZkBSnHz3BAoLSpklvgKAiEAqCO8LtHu7AolpffottvvL7RlRLO1lkM4el/OELr8
dK0=
-----END CERTIFICATE-----
`;

/** Its private key, in PEM. */
export const PRIVATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg4/SSS8qRp+/ATIAe
cjCYwKynjcdsWC37zL+NiduIfguhRANCAAQnrLCjYm6iawhPOohZmp6tkEw0Hdub
grav6vR6lfLoZpsR37rXmN5UIgUHJOavDBVA4BtQx7B8Me8gNTnXMDl2
-----END PRIVATE KEY-----
`;
